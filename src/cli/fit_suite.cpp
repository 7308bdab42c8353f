// SPDX-License-Identifier: Apache-2.0
#include "src/cli/fit_suite.h"

#include <algorithm>

#include "src/core/error.h"
#include "src/core/yaml.h"
#include "src/suite/schema.h"
#include "src/suite/suite.h"
#include "src/suite/suite_file.h"

namespace headroom {
namespace {

constexpr const char* kCaseName = "fit";
constexpr std::string_view kSuiteSuffix = "_fit";

Override override_of(const std::string& path, const std::string& value) {
  return parse_override(path + "=" + value);
}

}  // namespace

FitSuite::FitSuite(SuiteFile file, const std::vector<Override>& overrides, const Catalog& catalog)
    : file_(std::move(file)), command_line_(overrides), catalog_(catalog) {
  add_overrides(file_, overrides, catalog);
  file_.cases.resize(1);
  file_.cases[0].name = kCaseName;
  file_.cases[0].techniques = nlohmann::ordered_json::array();
  file_.cases[0].published = nlohmann::ordered_json::object();  // figures of another case
  file_.source.clear();
  for (Axis& axis : file_.matrix) axis.values.resize(1);
}

FitSuite FitSuite::of_model(const std::string& model, const std::string& dataset,
                            const std::vector<Override>& overrides, const Catalog& catalog) {
  const std::string text = "suite: " + model + "\ncases:\n- name: fit\n  model: {name: " + model +
                           "}\n  data: {name: " + dataset + "}\n";
  return {parse_suite_file(read_yaml(text, model), catalog), overrides, catalog};
}

SuiteFile FitSuite::with(const FitStack& stack, FitSize size, bool is_short) const {
  SuiteFile file = file_;
  file.cases[0].techniques = stack.techniques;
  if (size.micro_batches > 1) {
    const TechniqueInfo* accumulation = catalog_.find_technique("gradient_accumulation");
    if (accumulation == nullptr) throw ConfigError("fit: the catalog has no gradient_accumulation");
    file.cases[0].techniques.push_back(
        complete_technique(*accumulation, {{"micro_batches", size.micro_batches}}));
  }
  std::vector<Override> changes = {
      override_of("train.batch_size", std::to_string(size.batch_size))};
  if (stack.is_fused) changes.push_back(override_of("train.optimizer.implementation", "fused"));
  if (is_short) {
    // The first update makes the optimizer's state, the second one meets it; one counts FLOPs.
    changes.push_back(override_of("train.warmup_steps", "1"));
    changes.push_back(override_of("train.steps", "1"));
    changes.push_back(override_of("train.held_out_samples", "0"));
  }
  add_overrides(file, changes, catalog_);
  return file;
}

Case FitSuite::make_case(const FitStack& stack, FitSize size, bool is_short) const {
  return expand_cases(with(stack, size, is_short), catalog_).front();
}

Case FitSuite::plain_case() const { return expand_cases(file_, catalog_).front(); }

std::string FitSuite::write(const FitStack& stack, FitSize size, const std::string& gpu) const {
  SuiteFile file = with(stack, size, /*is_short=*/false);
  file.name = file.name.substr(0, kLongestCaseName - kSuiteSuffix.size()).append(kSuiteSuffix);
  file.gpu = gpu;
  return write_effective_suite(file, catalog_);
}

}  // namespace headroom
