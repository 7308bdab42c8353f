// SPDX-License-Identifier: Apache-2.0
// `headroom doctor`, `inspect` and `forward`: what a worker is asked besides measurements.
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/ask_worker.h"
#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/core/error.h"
#include "src/core/json.h"
#include "src/core/text.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

int doctor(const Catalog& catalog, bool json) {
  const Json result = {{"version", HEADROOM_VERSION},
                       {"commit", catalog.commit},
                       {"built_for_libtorch", catalog.libtorch},
                       {"built_with_cuda", catalog.cuda_built},
                       {"worker", worker_path()},
                       {"machine", ask_worker({{"request", "doctor"}})}};
  print(json ? json_text(result) : format_result(result));
  return 0;
}

/// The model that `inspect` and `forward` are about.
struct ModelArguments {
  std::string name;
  std::int64_t num_classes = 10;
  std::string attention;  // empty: eager, where the model has any
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;

  /// Adds MODEL and what may be said of it to a command.
  void add_to(CLI::App& command);
  /// The request's "model". Throws ConfigError where the catalog has no such model or attention.
  Json to_json(const Catalog& catalog) const;
};

void check_choice(const Catalog& catalog, const std::string& path, const std::string& given) {
  const Field* field = catalog.find_case_field(path);
  if (field == nullptr) throw std::logic_error("the catalog has no field " + path);
  std::vector<std::string> names;
  for (const FieldChoice& choice : field->choices) {
    if (choice.name == given) return;
    names.push_back(choice.name);
  }
  throw ConfigError("unknown " + path + " " + given + "; " + allowed_names(given, names));
}

void ModelArguments::add_to(CLI::App& command) {
  command.add_option("MODEL", name, "A model; `headroom list models` names them")->required();
  command.add_option("--num-classes", num_classes, "Classes of the head")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_option("--attention", attention, "How attention is computed")->default_str("eager");
  command.add_option("--layers", layers, "Repeated layers; default: as the name says");
  command.add_option("--width", width,
                     "Numbers that a token has between layers; default: likewise");
  command.add_option("--heads", heads, "Heads of attention; default: likewise");
}

Json ModelArguments::to_json(const Catalog& catalog) const {
  check_choice(catalog, "model.name", name);
  const ModelInfo* model = catalog.find_model(name);
  const bool attends = model == nullptr || model->has_attention;
  const std::string how = !attention.empty() ? attention : attends ? "eager" : "automatic";
  check_choice(catalog, "model.attention", how);
  Json json{{"name", name}, {"num_classes", num_classes}, {"attention", how}};
  if (layers != 0) json["layers"] = layers;
  if (width != 0) json["width"] = width;
  if (heads != 0) json["heads"] = heads;
  return json;
}

struct InspectOptions {
  ModelArguments model;
  std::int64_t image_size = 224;
  std::int64_t sequence_length = 128;
  bool json = false;
};

int inspect(const Catalog& catalog, const InspectOptions& options) {
  const Json result = ask_worker({{"request", "inspect"},
                                  {"model", options.model.to_json(catalog)},
                                  {"image_size", options.image_size},
                                  {"sequence_length", options.sequence_length}});
  print(options.json ? json_text(result) : format_result(result));
  return 0;
}

struct ForwardOptions {
  ModelArguments model;
  std::string weights;
  std::string inputs;
  std::string output;
  std::string device = "cpu";
  bool json = false;
};

int forward(const Catalog& catalog, const ForwardOptions& options) {
  const Json result = ask_worker({{"request", "forward"},
                                  {"model", options.model.to_json(catalog)},
                                  {"device", options.device},
                                  {"weights", options.weights},
                                  {"inputs", options.inputs},
                                  {"output", options.output}});
  if (result.is_object()) print(options.json ? json_text(result) : format_result(result));
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

void add_doctor(CommandLine& line) {
  CLI::App* command =
      line.app.add_subcommand("doctor", "What is installed here, what works, what is missing");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON");
  command->callback(
      [&line, json] { line.action = [&line, json] { return doctor(line.catalog(), *json); }; });
}

}  // namespace headroom
