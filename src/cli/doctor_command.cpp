// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/ask_worker.h"
#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/cli/result_text.h"

namespace headroom {
namespace {

int doctor(const Catalog& catalog, bool json) {
  const nlohmann::ordered_json result = {{"version", HEADROOM_VERSION},
                                         {"commit", catalog.commit},
                                         {"built_for_libtorch", catalog.libtorch},
                                         {"built_with_cuda", catalog.cuda_built},
                                         {"worker", worker_path()},
                                         {"machine", ask_worker({{"request", "doctor"}})}};
  print(json ? result.dump(2) + "\n" : format_result(result));
  return 0;
}

}  // namespace

void add_doctor(CommandLine& line) {
  CLI::App* command =
      line.app.add_subcommand("doctor", "What is installed here, what works, what is missing");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON");
  command->callback(
      [&line, json] { line.action = [&line, json] { return doctor(line.catalog(), *json); }; });
}

}  // namespace headroom
