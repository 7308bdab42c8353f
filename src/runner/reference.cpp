// SPDX-License-Identifier: Apache-2.0
#include "src/runner/reference.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

double tolerance_of(const Catalog& catalog, const Case& one) {
  double tolerance = 0;
  for (const Json& technique : one.techniques) {
    const TechniqueInfo* info = catalog.find_technique(technique.at("name").get<std::string>());
    if (info != nullptr) tolerance += info->loss_tolerance;
  }
  return tolerance;
}

bool drops_out(const Case& one) {
  const Json* dropout = one.find("model.dropout");
  return dropout != nullptr && dropout->get<double>() != 0;
}

std::optional<double> first_loss(const Row& row) {
  const auto loss = row.find("first_loss");
  if (loss == row.end()) return std::nullopt;
  return loss->get<double>();
}

std::string text(double value) { return Json(value).dump(); }

}  // namespace

Verdict check_against_reference(const Catalog& catalog, const Suite& suite, const Case& one,
                                const Row& row, const DoneRow& done) {
  Verdict own{Status::ok, row.value("reason", "")};
  if (one.techniques.empty() || drops_out(one)) return own;
  const auto reference = std::find_if(suite.cases.begin(), suite.cases.end(), [&](const Case& c) {
    return c.techniques.empty() && c.fields == one.fields;
  });
  const Row* reference_row = reference == suite.cases.end() ? nullptr : done(*reference);
  if (reference_row == nullptr || status_of(*reference_row) != Status::ok) {
    return own;
  }
  const auto loss = first_loss(row);
  const auto expected = first_loss(*reference_row);
  if (!loss || !expected) return own;

  const double tolerance = tolerance_of(catalog, one);
  if (*loss == *expected || std::abs(*loss - *expected) <= tolerance * std::abs(*expected))
    return own;
  return {Status::incorrect,
          "the loss of the first step is " + text(*loss) + ", that of " + reference->name + " is " +
              text(*expected) +
              (tolerance == 0 ? "; they must be equal"
                              : "; they may differ by " + text(tolerance) + " of it")};
}

}  // namespace headroom
