// SPDX-License-Identifier: Apache-2.0
#include "src/worker/catalog.h"

#include <nlohmann/json.hpp>

#include "src/core/describe_fields.h"
#include "src/core/enum_names.h"
#include "src/machine/hardware.h"
#include "src/results/columns.h"
#include "src/worker/case.h"
#include "techniques/technique.h"

namespace headroom {

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
          {"joins_ranks", entry.joins_ranks},
          {"replicates_batch", entry.replicates_batch},
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
      {"techniques", Json::array()},
      {"columns", Json::array()},
  };
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
