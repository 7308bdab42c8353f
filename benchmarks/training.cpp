// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/training.h"

#include <nlohmann/json.hpp>

#include "models/data/loader.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

Batch first_batch(const Recipe& recipe) {
  const auto data =
      find_data(recipe.data.name).make(recipe.data, recipe.model.num_classes, recipe.train.seed);
  Loader loader(*data, recipe.data, recipe.train.batch_size, recipe.train.seed);
  return loader.next();
}

/// The case `values`, completed.
Json with_training(Json values, std::string_view techniques, std::int64_t batch_size) {
  values["name"] = "benchmark";
  values["train"] = {{"batch_size", batch_size}};
  values["techniques"] = Json::parse(techniques);
  return values;
}

WorkerCase read_rank(Json values, const Membership& membership) {
  values["ranks"] = membership.ranks;
  WorkerCase read = read_case(values, at::kCPU);
  read.recipe.membership = membership;
  return read;
}

}  // namespace

Training Training::vit(std::string_view techniques, std::int64_t batch_size) {
  return vit_rank({}, techniques, batch_size);
}

Training Training::vit_rank(const Membership& membership, std::string_view techniques,
                            std::int64_t batch_size) {
  const Json values = {{"model", {{"name", "vit_ti_16"}}},
                       {"data", {{"name", "random_images"}, {"image_size", 64}}}};
  return Training(with_training(values, techniques, batch_size), membership);
}

Training Training::bert(std::string_view techniques, std::int64_t batch_size) {
  const Json values = {{"model", {{"name", "bert_mini"}}},
                       {"data", {{"name", "random_tokens"}, {"sequence_length", 32}}}};
  return Training(with_training(values, techniques, batch_size));
}

Training::Training(const Json& values, const Membership& membership)
    : case_(read_rank(values, membership)),
      trainer_(case_.recipe, case_.techniques, ledger_),
      batch_(first_batch(case_.recipe)) {}

}  // namespace headroom
