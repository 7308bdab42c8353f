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

struct ForwardOptions {
  ModelArguments model;
  std::string weights;
  std::string inputs;
  std::string output;
  std::string device = "cpu";
  bool json = false;
};

int forward(const Catalog& catalog, const ForwardOptions& options) {
  const nlohmann::ordered_json result = ask_worker({{"request", "forward"},
                                                    {"model", options.model.to_json(catalog)},
                                                    {"device", options.device},
                                                    {"weights", options.weights},
                                                    {"inputs", options.inputs},
                                                    {"output", options.output}});
  if (result.is_object()) print(options.json ? result.dump(2) + "\n" : format_result(result));
  return 0;
}

}  // namespace

void add_forward(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "forward", "A model's logits for given weights and inputs, to compare with its reference");
  const auto options = std::make_shared<ForwardOptions>();
  options->model.add_to(*command);
  command->add_option("--weights", options->weights, "The parameters, a safetensors file")
      ->required()
      ->check(CLI::ExistingFile);
  command
      ->add_option("--inputs", options->inputs,
                   "A safetensors file with images (B, 3, H, W), or input_ids and attention_mask "
                   "(B, T)")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--output", options->output, "Where to write logits, a safetensors file")
      ->required();
  command->add_option("--device", options->device, "cpu or cuda")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&line, options] {
    line.action = [&line, options] { return forward(line.catalog(), *options); };
  });
}

}  // namespace headroom
