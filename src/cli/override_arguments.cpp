// SPDX-License-Identifier: Apache-2.0
#include "src/cli/override_arguments.h"

namespace headroom {

void OverrideArguments::add_to(CLI::App& command) {
  command.add_option("--set", set, "K=V, over every case: train.batch_size=4")
      ->expected(1)
      ->take_all();
  command.add_option("--ranks", ranks, "Processes that train a case together: --set ranks=N");
}

std::vector<Override> OverrideArguments::overrides() const {
  std::vector<Override> result;
  for (const std::string& text : set) result.push_back(parse_override(text));
  if (!ranks.empty()) result.push_back(parse_override("ranks=" + ranks));
  return result;
}

}  // namespace headroom
