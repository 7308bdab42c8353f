// SPDX-License-Identifier: Apache-2.0
#include "src/runner/environment_check.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/error.h"
#include "src/core/hidden_gpus.h"
#include "src/core/text.h"

namespace headroom {
namespace {

constexpr std::int64_t kMaxThreads = 65'536;

constexpr std::string_view kSpaces = " \t\n\r\f\v";

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin));
}

/// The parts of a text between commas that stand in no bracket; one part of an empty text.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// As libgomp reads it, which takes 08 for 8.
bool is_number_of_threads(const std::string& text) {
  const auto number =
      parse_integer(text.substr(std::min(text.find_first_not_of('0'), text.size())));
  return number && *number >= 1 && *number <= kMaxThreads;
}

bool is_device(const std::string& text) {
  const auto number = parse_integer(text);
  if (number) return *number >= -1;
  return text.starts_with("GPU-") || text.starts_with("MIG-");
}

/// A value, or a list in brackets, which holds no list.
bool is_value(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return !text.empty() && text.find_first_of("[]") == std::string_view::npos;
}

/// name:value, with spaces anywhere, all of which LibTorch drops.
bool is_option(const std::string& part) {
  std::string text = part;
  std::erase_if(text, [](char c) { return kSpaces.find(c) != std::string_view::npos; });
  const std::size_t colon = text.find(':');
  return colon != std::string::npos && colon > 0 && text.find_first_of("[]") > colon &&
         is_value(std::string_view(text).substr(colon + 1));
}

struct Form {
  std::string_view variable;
  bool (*is_valid)(const std::string& part);  // of the value, between commas
  std::string_view allowed;
};

constexpr std::string_view kOptions = "NAME:VALUE or NAME:[VALUE,...], with commas between them";

constexpr std::array kForms = {
    Form{kThreads, &is_number_of_threads, "a number of threads, from 1, or several with commas"},
    Form{kVisibleGpus, &is_device,
         "numbers of GPUs or their names (GPU-..., MIG-...), with commas; none: empty, -1, none or "
         "NoDevFiles"},
    Form{"PYTORCH_ALLOC_CONF", &is_option, kOptions},
    Form{"PYTORCH_CUDA_ALLOC_CONF", &is_option, kOptions}};

}  // namespace

void check_environment(const Variables& variables, bool uses_gpus) {
  for (const Form& form : kForms) {
    const auto found = variables.find(form.variable);
    if (found == variables.end() || found->second.empty()) continue;
    const bool is_of_gpus = form.variable == kVisibleGpus;
    if (is_of_gpus && (!uses_gpus || hides_gpus(trimmed(found->second)))) continue;
    const std::vector<std::string> parts = split(found->second);
    const auto is_valid = [&](const std::string& part) { return form.is_valid(trimmed(part)); };
    if (std::ranges::all_of(parts, is_valid)) continue;
    throw ConfigError("the environment's " + std::string(form.variable) + " is '" +
                      printable(found->second) + "'; allowed: " + std::string(form.allowed));
  }
}

std::vector<std::string> names_of_gpus(const Variables& variables, std::size_t count) {
  std::vector<std::string> names;
  const auto set = variables.find(kVisibleGpus);
  if (set == variables.end()) {
    for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
    return names;
  }
  for (const std::string& part : split(set->second)) names.push_back(trimmed(part));
  names.resize(std::min(names.size(), count));  // those behind a name that CUDA does not know
  return names;
}

void restrict_to_gpus(const std::vector<std::string>& names, std::size_t all) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  setenv(kVisibleGpus, list.c_str(), 1);
  const int share = usable_cores() / static_cast<int>(all);
  setenv(kThreads, std::to_string(std::max(1, share)).c_str(), 0);
}

}  // namespace headroom
