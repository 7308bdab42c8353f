// SPDX-License-Identifier: Apache-2.0
#include "src/core/json.h"

#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"

namespace headroom {

void fuzz_json(std::string_view input) {
  constexpr JsonLimits kLimits{.depth = 16, .values = 1000};
  nlohmann::ordered_json value;
  if (!is_accepted([&] { value = read_json(input, kLimits); })) return;
  require(read_json(value.dump(), kLimits) == value, "a value reads back as it was");
  require(read_json(json_text(value), kLimits) == value, "a text for people reads back as well");
  require(differences(value, value).empty(), "a value differs not from itself");
}

}  // namespace headroom
