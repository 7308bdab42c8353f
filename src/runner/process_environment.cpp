// SPDX-License-Identifier: Apache-2.0
#include "src/runner/process_environment.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace headroom {

std::vector<std::string> environment_with(const Environment& changes) {
  std::vector<std::string> all;
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool changed = std::any_of(changes.begin(), changes.end(),
                                     [&](const auto& change) { return change.first == name; });
    if (!changed) all.emplace_back(text);
  }
  return all;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace headroom
