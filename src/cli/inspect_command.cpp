// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/ask_worker.h"
#include "src/cli/command_line.h"
#include "src/cli/model_arguments.h"
#include "src/cli/output.h"
#include "src/cli/result_text.h"

namespace headroom {
namespace {

struct InspectOptions {
  ModelArguments model;
  std::int64_t image_size = 224;
  std::int64_t sequence_length = 128;
  bool json = false;
};

int inspect(const Catalog& catalog, const InspectOptions& options) {
  const nlohmann::ordered_json result = ask_worker({{"request", "inspect"},
                                                    {"model", options.model.to_json(catalog)},
                                                    {"image_size", options.image_size},
                                                    {"sequence_length", options.sequence_length}});
  print(options.json ? result.dump(2) + "\n" : format_result(result));
  return 0;
}

}  // namespace

void add_inspect(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand("inspect", "A model's parameters, blocks and FLOPs");
  const auto options = std::make_shared<InspectOptions>();
  options->model.add_to(*command);
  command->add_option("--image-size", options->image_size, "Pixels, square")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--sequence-length", options->sequence_length, "Tokens")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&line, options] {
    line.action = [&line, options] { return inspect(line.catalog(), *options); };
  });
}

}  // namespace headroom
