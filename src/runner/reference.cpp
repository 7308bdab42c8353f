// SPDX-License-Identifier: Apache-2.0
#include "src/runner/reference.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "src/core/text.h"
#include "src/results/columns.h"

namespace headroom {

const ModelInfo* model_of(const Catalog& catalog, const Case& one) {
  const auto* name = one.find("model.name");
  return name == nullptr ? nullptr : catalog.find_model(name->get<std::string>());
}

namespace {

using Json = nlohmann::ordered_json;
using Trait = bool TechniqueInfo::*;

/// The first of the case's techniques of which it is true; null: none.
const TechniqueInfo* technique_with(const Catalog& catalog, const Case& one, Trait trait) {
  for (const Json& technique : one.techniques) {
    const TechniqueInfo* info = catalog.find_technique(technique.at("name").get<std::string>());
    if (info != nullptr && info->*trait) return info;
  }
  return nullptr;
}

/// One figure of the first step that techniques may change only so much.
struct Checked {
  std::string_view column;
  const char* words;
  double TechniqueInfo::*tolerance;
  double TechniqueInfo::*option_tolerance;
  bool is_gradient;
};

constexpr Checked kChecked[] = {
    {column::first_loss, "the loss of the first step", &TechniqueInfo::loss_tolerance,
     &TechniqueInfo::option_loss_tolerance, false},
    {column::first_gradient_norm, "the gradient norm of the first step",
     &TechniqueInfo::gradient_tolerance, &TechniqueInfo::option_gradient_tolerance, true},
};

/// Whether the technique is given its rounding option, with another value than the default.
bool rounds_by_option(const TechniqueInfo& info, const Json& technique) {
  const auto given = technique.find(info.rounding_option);
  const auto field = std::ranges::find(info.fields, info.rounding_option, &Field::name);
  return given != technique.end() && field != info.fields.end() && *given != field->default_value;
}

/// Relative to the case without techniques.
double tolerance_of(const Catalog& catalog, const Case& one, const Checked& checked) {
  double sum = 0;
  for (const Json& technique : one.techniques) {
    const TechniqueInfo* info = catalog.find_technique(technique.at("name").get<std::string>());
    if (info == nullptr) continue;
    sum += info->*checked.tolerance;
    if (rounds_by_option(*info, technique)) sum += info->*checked.option_tolerance;
  }
  const ModelInfo* model = model_of(catalog, one);
  return checked.is_gradient && model != nullptr ? sum * model->gradient_rounding : sum;
}

bool is_plain_case(const Case& one) { return is_plain(one.ranks(), one.technique_names()); }

/// What the case would be without its techniques: where ranks share a batch, on one rank.
Json plain_fields(const Catalog& catalog, const Case& one) {
  Json fields = one.fields;
  if (technique_with(catalog, one, &TechniqueInfo::replicates_batch) != nullptr) {
    fields["ranks"] = 1;
  }
  return fields;
}

bool drops_out(const Case& one) {
  const Json* dropout = one.find("model.dropout");
  return dropout != nullptr && dropout->get<double>() != 0;
}

/// Whether random weights come from the device's generator: a file may hold all of them.
bool draws_on_device(const Catalog& catalog, const Case& one) {
  const Json* weights = one.find("model.weights");
  const Json* head = one.find("model.head");
  const bool is_from_file = weights != nullptr && !weights->get<std::string>().empty() &&
                            (head == nullptr || *head != "new");
  return !is_from_file && technique_with(catalog, one, &TechniqueInfo::draws_on_device) != nullptr;
}

/// Why the first step's figures are not those of the plain case; empty: they are.
std::string why_other_sums(const Catalog& catalog, const Case& one) {
  const ModelInfo* model = model_of(catalog, one);
  if (model == nullptr || !model->mixes_samples) return "";
  const TechniqueInfo* splits = technique_with(catalog, one, &TechniqueInfo::splits_batch);
  if (splits == nullptr) return "";
  return model->name + " normalises by the statistics of a micro-batch, and " + splits->name +
         " makes other ones";
}

std::string why_not_comparable(const Catalog& catalog, const Case& one, const Case& reference,
                               std::string_view device) {
  if (device != "cpu" && draws_on_device(catalog, one) && !draws_on_device(catalog, reference)) {
    return "the device draws other random weights than the host";
  }
  const std::string why = why_other_sums(catalog, one);
  return why.empty() ? why_other_sums(catalog, reference) : why;
}

/// Whether the figure is of other parameters than without the case's techniques.
bool is_of_others(const Catalog& catalog, const Case& one, const Checked& checked) {
  return checked.is_gradient &&
         technique_with(catalog, one, &TechniqueInfo::trains_others) != nullptr;
}

std::string text(double value) { return Json(value).dump(); }

}  // namespace

const Case* reference_of(const Catalog& catalog, const Suite& suite, const Case& one) {
  if (is_plain_case(one) || drops_out(one)) return nullptr;
  const Json fields = plain_fields(catalog, one);
  const auto first = [&](const auto& is_wanted) -> const Case* {
    const auto found = std::ranges::find_if(suite.cases, [&](const Case& other) {
      return is_wanted(other) && plain_fields(catalog, other) == fields;
    });
    return found == suite.cases.end() ? nullptr : &*found;
  };
  const auto draws = [&](const Case& other) { return draws_on_device(catalog, other); };
  const Case* same_weights = draws(one) ? first(draws) : nullptr;
  return same_weights != nullptr && same_weights < &one ? same_weights : first(is_plain_case);
}

Verdict check_against_reference(const Catalog& catalog, const Suite& suite, const Case& one,
                                const Row& row, const DoneRow& done) {
  Verdict own{Status::ok, text_in(row, column::reason)};
  const Case* reference = reference_of(catalog, suite, one);
  const Row* reference_row = reference == nullptr ? nullptr : done(*reference);
  if (reference_row == nullptr || status_of(*reference_row) != Status::ok) {
    return own;
  }
  const std::string why_not =
      why_not_comparable(catalog, one, *reference, text_in(row, column::device));
  for (const Checked& checked : kChecked) {
    const auto seen = number_in(row, checked.column);
    const auto expected = number_in(*reference_row, checked.column);
    if (!seen || !expected || *seen == *expected) continue;
    if (!why_not.empty()) {
      const std::string note = std::string(checked.words) + " is not compared with that of " +
                               reference->name + ": " + why_not;
      return {Status::ok, join_reasons(own.reason, note)};
    }
    if (is_of_others(catalog, one, checked) || is_of_others(catalog, *reference, checked)) continue;
    const double tolerance =
        tolerance_of(catalog, one, checked) + tolerance_of(catalog, *reference, checked);
    if (std::abs(*seen - *expected) <= tolerance * std::abs(*expected)) continue;
    const std::string why = std::string(checked.words) + " is " + text(*seen) + ", that of " +
                            reference->name + " is " + text(*expected) +
                            (tolerance == 0 ? "; they must be equal"
                                            : "; they may differ by " + text(tolerance) + " of it");
    return {Status::incorrect, join_reasons(why, own.reason)};
  }
  return own;
}

}  // namespace headroom
