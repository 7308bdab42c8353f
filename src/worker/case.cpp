// SPDX-License-Identifier: Apache-2.0
#include "src/worker/case.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/core/error.h"
#include "src/core/read_fields.h"
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
  for (const auto& technique : result.techniques) technique->edit_recipe(recipe);
  recipe.optimizer.check();
  for (const auto& technique : result.techniques) technique->check_recipe(recipe);
  return result;
}

}  // namespace headroom
