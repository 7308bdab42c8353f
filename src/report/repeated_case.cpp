// SPDX-License-Identifier: Apache-2.0
#include "src/report/repeated_case.h"

#include <algorithm>

#include "src/core/error.h"

namespace headroom {
namespace {

std::string group_of(const Results& results) {
  const std::string device = results.header["device"].get<std::string>();
  const bool planned = results.header["kind"] == "planned";
  return results.suite() + "/" + (planned ? "planned_" : "") + device;
}

/// The results of each group.
struct Group {
  std::string name;
  std::vector<const Results*> results;
};

std::vector<Group> groups_of(const std::vector<Results>& all) {
  std::vector<Group> groups;
  for (const Results& results : all) {
    const std::string name = group_of(results);
    auto found = std::ranges::find(groups, name, &Group::name);
    if (found == groups.end()) found = groups.insert(groups.end(), Group{name, {}});
    found->results.push_back(&results);
  }
  return groups;
}

/// Throws ResultsError where the case is other work than in the group's first results with it.
void check_same_work(const Group& group, const std::string& name) {
  const Results* first = nullptr;
  for (const Results* results : group.results) {
    const auto& works = results->header["cases"];
    if (!works.contains(name)) continue;
    if (first == nullptr) first = results;
    if (works[name] == first->header["cases"][name]) continue;
    throw ResultsError(results->journal + ": the case " + name + " is other work than in " +
                       first->journal + ", so they are no repeats; export them one by one");
  }
}

RepeatedCase gather(const Group& group, const std::string& name) {
  RepeatedCase gathered{group.name, name, {}};
  for (const Results* results : group.results) {
    if (const CaseResult* one = results->find(name)) {
      gathered.repeats.push_back(one);
    } else {
      ++gathered.not_done;
    }
  }
  return gathered;
}

}  // namespace

bool RepeatedCase::is_ok() const {
  return not_done == 0 && std::ranges::all_of(repeats, [](const CaseResult* one) {
           return status_of(one->row) == Status::ok;
         });
}

std::string RepeatedCase::ending() const {
  const CaseResult* worst = nullptr;
  const auto badness = [](const CaseResult* one) {
    const Status status = status_of(one->row);
    return status == Status::ok ? 0 : is_failure(status) ? 2 : 1;
  };
  for (const CaseResult* one : repeats) {
    if (worst == nullptr || badness(one) > badness(worst)) worst = one;
  }
  if (worst == nullptr || (not_done > 0 && badness(worst) == 0)) return "not done";
  const std::string reason = text_in(worst->row, "reason");
  return text_in(worst->row, "status") + (reason.empty() ? "" : ": " + reason);
}

std::vector<double> RepeatedCase::figures(std::string_view column) const {
  std::vector<double> numbers;
  for (const CaseResult* one : repeats) {
    if (const auto number = number_in(one->row, std::string(column))) numbers.push_back(*number);
  }
  return numbers;
}

std::vector<RepeatedCase> repeated_cases(const std::vector<Results>& all) {
  std::vector<RepeatedCase> cases;
  for (const Group& group : groups_of(all)) {
    std::vector<std::string> names;
    for (const Results* results : group.results) {
      for (const auto& [name, work] : results->header["cases"].items()) {
        if (std::ranges::find(names, name) != names.end()) continue;
        names.push_back(name);
        check_same_work(group, name);
        cases.push_back(gather(group, name));
      }
    }
  }
  return cases;
}

}  // namespace headroom
