// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/training.h"

#include <nlohmann/json.hpp>

#include "models/loader.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

Batch first_batch(const Recipe& recipe) {
  const auto data =
      find_data(recipe.data.name).make(recipe.data, recipe.model.num_classes, recipe.train.seed);
  Loader loader(*data, recipe.data, recipe.train.batch_size, recipe.train.seed);
  return loader.next();
}

Json case_of(const Json& model, const Json& data, std::string_view techniques) {
  return {{"name", "benchmark"},
          {"model", model},
          {"data", data},
          {"train", {{"batch_size", 8}}},
          {"techniques", Json::parse(techniques)}};
}

}  // namespace

Training Training::vit(std::string_view techniques) {
  return Training(case_of({{"name", "vit_ti_16"}}, {{"name", "random_images"}, {"image_size", 64}},
                          techniques));
}

Training Training::bert(std::string_view techniques) {
  return Training(case_of({{"name", "bert_mini"}},
                          {{"name", "random_tokens"}, {"sequence_length", 32}}, techniques));
}

Training::Training(const Json& values)
    : case_(read_case(values, at::kCPU)),
      trainer_(case_.recipe, case_.techniques, ledger_),
      batch_(first_batch(case_.recipe)) {}

}  // namespace headroom
