// SPDX-License-Identifier: Apache-2.0
#include "src/cli/model_arguments.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "src/core/error.h"
#include "src/core/suggest.h"

namespace headroom {
namespace {

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

}  // namespace

void ModelArguments::add_to(CLI::App& command) {
  command.add_option("MODEL", name, "A model; `headroom list models` names them")->required();
  command.add_option("--num-classes", num_classes, "Classes of the head")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_option("--attention", attention, "How attention is computed")->capture_default_str();
}

nlohmann::ordered_json ModelArguments::to_json(const Catalog& catalog) const {
  check_choice(catalog, "model.name", name);
  check_choice(catalog, "model.attention", attention);
  return {{"name", name}, {"num_classes", num_classes}, {"attention", attention}};
}

}  // namespace headroom
