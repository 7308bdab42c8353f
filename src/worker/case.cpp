// SPDX-License-Identifier: Apache-2.0
#include "src/worker/case.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/core/enum_names.h"
#include "src/core/error.h"
#include "src/core/fields.h"
#include "src/machine/hardware.h"
#include "src/optimizers/update_rule.h"
#include "src/results/columns.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

void check_excludes(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    for (const std::string_view other : excluded_by(find_technique(name))) {
      if (std::ranges::find(names, other) != names.end()) {
        throw Unsupported(name + " can't be combined with " + std::string(other));
      }
    }
  }
}

void check_weights(const ModelOptions& model) {
  if (model.has_new_head() && model.weights.empty()) {
    throw ConfigError(
        "model.head: new goes with model.weights; without them all of a model is new");
  }
}

void check_optimizer(const Recipe& recipe) {
  recipe.optimizer.check();
  if (recipe.cuts_parameters && !find_optimizer(recipe.optimizer.name).works_on_parts) {
    throw Unsupported("the optimizer " + recipe.optimizer.name +
                      " looks at whole parameters, and a technique of the case cuts them");
  }
}

}  // namespace

void Limits::fields(Fields& f) {
  f.integer({"case_s", "seconds that a case may take"}, case_s, {1, 1'000'000});
  f.integer({"silence_s", "seconds that a worker may be silent (a step is one silence)"}, silence_s,
            {1, 1'000'000});
  f.integer({"memory_bytes", "the most that a worker may take on its device; 0: all that is free"},
            memory_bytes, {0, 1LL << 50});
}

void case_fields(Fields& f, Recipe& recipe, Limits& limits) {
  f.integer({"ranks", "processes that train together, one for each GPU"}, recipe.membership.ranks,
            {1, 65536});
  f.object({"model", "what is trained"}, [&](Fields& g) { recipe.model.fields(g); });
  f.object({"data", "on what, and how it is loaded"}, [&](Fields& g) { recipe.data.fields(g); });
  f.object({"train", "how it is trained"}, [&](Fields& g) { recipe.train.fields(g); });
  f.object({"allocator", "settings of PyTorch's caching allocator (CUDA)"},
           [&](Fields& g) { recipe.allocator.fields(g); });
  f.object({"limits", "time and memory that a case may take"},
           [&](Fields& g) { limits.fields(g); });
}

WorkerCase read_case(const nlohmann::ordered_json& values, at::Device device) {
  WorkerCase result;
  nlohmann::ordered_json rest = values;
  result.name = values.at("name").get<std::string>();
  rest.erase("name");
  rest.erase("techniques");
  read_fields(rest, "case", [&](Fields& f) { case_fields(f, result.recipe, result.limits); });

  Recipe& recipe = result.recipe;
  recipe.device = device;
  recipe.data.pinned = recipe.data.pinned && device.is_cuda();  // nothing is copied to the CPU
  recipe.dtype = recipe.train.precision == Precision::float64 ? at::kDouble : at::kFloat;
  recipe.optimizer = recipe.train.optimizer;
  std::vector<std::string> names;
  for (nlohmann::ordered_json technique : values.at("techniques")) {
    names.push_back(technique.at("name").get<std::string>());
    technique.erase("name");
    result.techniques.push_back(find_technique(names.back()).make());
    read_fields(technique, "techniques." + names.back(),
                [&](Fields& f) { result.techniques.back()->fields(f); });
  }
  check_excludes(names);
  check_weights(recipe.model);
  if (device.is_cpu() && !recipe.allocator.text().empty()) {
    throw Unsupported("the CPU's allocator has no settings; the case has " +
                      recipe.allocator.text());
  }
  for (const auto& technique : result.techniques) technique->edit_recipe(recipe);
  check_optimizer(recipe);
  for (const auto& technique : result.techniques) technique->check_recipe(recipe);
  return result;
}

extern const char* const kCommit;  // written by cmake/Commit.cmake

namespace {

using Json = nlohmann::ordered_json;

Json describe_fit(const TechniqueEntry& entry) {
  Json fit{{"changes", entry.changes}};
  for (const FitCostPart& part : kFitCostParts) fit[part.name] = entry.fit_cost.*part.value;
  return fit;
}

Json describe_technique(const TechniqueEntry& entry) {
  const std::unique_ptr<Technique> technique = entry.make();
  return {{"name", entry.name},
          {"summary", entry.summary},
          {"saves", entry.saves},
          {"costs", entry.costs},
          {"source", entry.source},
          {"fields", describe_fields([&](Fields& f) { technique->fields(f); })},
          {"excludes", excluded_by(entry)},
          {"trains_others", entry.trains_others},
          {"draws_on_device", entry.draws_on_device},
          {"joins_ranks", entry.joins_ranks},
          {"replicates_batch", entry.replicates_batch},
          {"splits_batch", entry.splits_batch},
          {"loss_tolerance", entry.loss_tolerance},
          {"gradient_tolerance", entry.gradient_tolerance},
          {"rounds_by",
           {{"option", entry.rounds_by.option},
            {"loss_tolerance", entry.rounds_by.loss_tolerance},
            {"gradient_tolerance", entry.rounds_by.gradient_tolerance}}},
          {"fit", describe_fit(entry)}};
}

}  // namespace

Json make_catalog() {
  Recipe recipe;
  Limits limits;
  Json catalog{
      {"libtorch", libtorch_version()},
      {"cuda_built", cuda_built()},
      {"commit", kCommit},
      {"case", describe_fields([&](Fields& f) { case_fields(f, recipe, limits); })},
      {"models", Json::array()},
      {"techniques", Json::array()},
      {"columns", Json::array()},
  };
  for (const ModelEntry& entry : model_table()) {
    catalog["models"].push_back({{"name", entry.name},
                                 {"has_attention", entry.has_attention},
                                 {"mixes_samples", entry.mixes_samples},
                                 {"gradient_rounding", entry.gradient_rounding}});
  }
  for (const TechniqueEntry& entry : technique_table()) {
    catalog["techniques"].push_back(describe_technique(entry));
  }
  for (const ColumnEntry& column : kColumns) {
    catalog["columns"].push_back({{"name", column.name},
                                  {"type", enum_name(column.type)},
                                  {"group", enum_name(column.group)},
                                  {"summary", column.summary},
                                  {"origin", column.origin},
                                  {"across_ranks", enum_name(column.across_ranks)}});
  }
  return catalog;
}

}  // namespace headroom
