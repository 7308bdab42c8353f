// SPDX-License-Identifier: Apache-2.0
#include "src/workers/launcher.h"

#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"

namespace headroom {

/// Lines of NAME=VALUE.
void fuzz_launcher(std::string_view input) {
  Variables environment;
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) {
      environment.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
    input.remove_prefix(std::min(line.size() + 1, input.size()));
  }
  std::optional<Launch> launch;
  if (!is_accepted([&] { launch = read_launch(environment); }, "environment variable")) return;
  if (!launch) return;
  require(launch->ranks > 1 && launch->rank >= 0 && launch->rank < launch->ranks,
          "a rank is one of the ranks");
  require(launch->local_rank >= 0 && launch->local_rank < launch->ranks,
          "a local rank is one of the ranks");
  require(launch->master_port > 0 && launch->store_port() <= 65535, "a port is one");
}

}  // namespace headroom
