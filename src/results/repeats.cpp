// SPDX-License-Identifier: Apache-2.0
#include "src/results/repeats.h"

#include <algorithm>
#include <map>

#include "src/core/error.h"
#include "src/results/columns.h"
#include "src/results/journal.h"

namespace headroom {
namespace {

Repeats& find_or_add(std::vector<Repeats>& list, const Results& one, const std::string& name) {
  const Repeats* const found = find_repeats(list, one.suite(), name);
  if (found != nullptr) return list[static_cast<std::size_t>(found - list.data())];
  list.push_back({.suite = one.suite(),
                  .name = name,
                  .kind = one.header["kind"].get<std::string>(),
                  .device = one.header["device"].get<std::string>(),
                  .libraries = text_in(one.header, kLibrariesKey),
                  .runs = {}});
  return list.back();
}

}  // namespace

std::vector<double> Repeats::values(std::string_view column) const {
  std::vector<double> list;
  for (const CaseResult* run : runs) {
    if (const auto value = number_in(run->row, column)) list.push_back(*value);
  }
  return list;
}

std::vector<double> Repeats::times(std::string_view column) const {
  std::vector<double> list = values(column);
  std::erase_if(list, [](double value) { return value <= 0; });
  return list;
}

const Row& Repeats::row() const {
  const auto bad = std::ranges::find_if(
      runs, [](const CaseResult* run) { return status_of(run->row) != Status::ok; });
  return bad == runs.end() ? runs.front()->row : (*bad)->row;
}

std::string Repeats::status() const {
  return runs.empty() ? "not done" : text_in(row(), column::status);
}

const Repeats* find_repeats(const std::vector<Repeats>& list, const std::string& suite,
                            const std::string& name) {
  const auto found = std::ranges::find_if(
      list, [&](const Repeats& one) { return one.suite == suite && one.name == name; });
  return found == list.end() ? nullptr : &*found;
}

std::vector<Repeats> repeats_of(const std::vector<Results>& results) {
  std::vector<Repeats> list;
  std::map<std::string, const Results*> first;  // of each suite
  for (const Results& one : results) {
    const Results& like = *first.emplace(one.suite(), &one).first->second;
    const std::string difference = header_difference(like.header, one.header);
    if (!difference.empty()) {
      throw ResultsError(one.journal + ": this is no repeat of " + like.journal + ": " +
                         difference);
    }
    for (const auto& [name, work] : one.header["cases"].items()) {
      Repeats& repeats = find_or_add(list, one, name);
      if (const CaseResult* run = one.find(name)) repeats.runs.push_back(run);
    }
  }
  return list;
}

}  // namespace headroom
