// SPDX-License-Identifier: Apache-2.0
#include "src/core/fields.h"

#include <vector>

namespace headroom {

void Fields::choice_of_names(const FieldInfo& info, std::string& value,
                             std::span<const std::string_view> names) {
  std::vector<Choice> choices;
  for (const std::string_view name : names) choices.push_back({.name = name});
  choice(info, value, choices);
}

}  // namespace headroom
