// SPDX-License-Identifier: Apache-2.0
// Every optimizer in every implementation against its reference (tests/golden/make_optimizers.py).
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/core/enum_names.h"
#include "src/core/fields.h"
#include "src/optimizers/optimizer.h"
#include "tests/optimizers/golden.h"
#include "tests/optimizers/parameters.h"

namespace headroom {
namespace {

const Json& golden() {
  static const Json kGolden = golden_values("optimizers.json");
  return kGolden;
}

/// `copies` of each tensor in one, undefined where there is none: kernels for CPUs have a path for
/// many numbers and one for few.
std::vector<at::Tensor> tensors(const Json& values, at::ScalarType dtype, std::int64_t copies) {
  std::vector<at::Tensor> made;
  for (std::size_t i = 0; i < values.size(); ++i) {
    made.emplace_back();
    if (values[i].is_null()) continue;
    const auto shape = golden()["shapes"][i].get<std::vector<std::int64_t>>();
    const auto numbers = values[i].get<std::vector<double>>();
    made.back() = at::tensor(numbers, at::kDouble).reshape(shape).to(dtype);
    if (copies > 1) made.back() = made.back().reshape({-1}).repeat({copies});
  }
  return made;
}

OptimizerOptions options_of(const Json& values, Implementation implementation) {
  OptimizerOptions options;
  read_fields(values, "optimizer", [&](Fields& f) { options.fields(f); });
  options.implementation = implementation;
  return options;
}

/// Those whose optimizer has the implementation.
std::vector<Json> cases_with(Implementation implementation) {
  std::vector<Json> cases;
  for (const Json& entry : golden()["cases"]) {
    const auto& row = find_optimizer(entry["options"]["name"].get<std::string>());
    if (std::ranges::count(row.implementations, implementation) > 0) cases.push_back(entry);
  }
  return cases;
}

/// Where an optimizer looks at whole parameters, copies would be another parameter.
std::int64_t copies_for(const OptimizerOptions& options, std::int64_t copies) {
  return find_optimizer(options.name).works_on_parts ? copies : 1;
}

using Factory = std::unique_ptr<Optimizer> (*)(const OptimizerOptions&, std::vector<at::Tensor>);

std::unique_ptr<Optimizer> make_on_host(const OptimizerOptions& options,
                                        std::vector<at::Tensor> parameters) {
  return make_host_optimizer(options, std::move(parameters), PlannedUpdate());
}

/// The parameters behind the golden file's updates.
std::vector<at::Tensor> optimized(Factory make, const OptimizerOptions& options,
                                  at::ScalarType dtype, std::int64_t copies = 1) {
  std::vector<at::Tensor> parameters = tensors(golden()["start"], dtype, copies);
  for (const at::Tensor& parameter : parameters) parameter.requires_grad_();
  const auto optimizer = make(options, parameters);
  for (const Json& gradients : golden()["gradients"]) {
    const std::vector<at::Tensor> made = tensors(gradients, dtype, copies);
    for (std::size_t i = 0; i < made.size(); ++i) set_gradient(parameters[i], made[i]);
    optimizer->begin_step();
    optimizer->update_all();
  }
  return parameters;
}

/// Relative to the largest number of each tensor. What the reference can't update is passed over.
double largest_difference(const std::vector<at::Tensor>& parameters, const Json& expected,
                          std::int64_t copies = 1) {
  const std::vector<at::Tensor> wanted = tensors(expected, at::kDouble, copies);
  double largest = 0.0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!wanted[i].defined()) continue;
    const at::Tensor distance = parameters[i].detach().to(at::kDouble).sub(wanted[i]).abs().max();
    largest = std::max(largest, distance.div(wanted[i].abs().max()).item<double>());
  }
  return largest;
}

std::string name_of(Implementation implementation) {
  return std::string(enum_name(implementation));
}

class GoldenTest : public testing::TestWithParam<Implementation> {};
INSTANTIATE_TEST_SUITE_P(, GoldenTest,
                         testing::Values(Implementation::per_tensor, Implementation::multi_tensor,
                                         Implementation::fused,
                                         Implementation::multi_tensor_torch_2_0),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(GoldenTest, AgreesWithPyTorch) {
  for (const Json& entry : cases_with(GetParam())) {
    SCOPED_TRACE(entry["options"].dump());
    const OptimizerOptions options = options_of(entry["options"], GetParam());
    EXPECT_LE(largest_difference(optimized(&make_device_optimizer, options, at::kFloat),
                                 entry["float32"]),
              1e-6);
    EXPECT_LE(largest_difference(optimized(&make_device_optimizer, options, at::kDouble),
                                 entry["float64"]),
              1e-12);
  }
}

constexpr std::int64_t kCopies = 40;

TEST_P(GoldenTest, In16BitsItIsTheSameToRounding) {
  for (const Json& entry : cases_with(GetParam())) {
    SCOPED_TRACE(entry["options"].dump());
    const OptimizerOptions options = options_of(entry["options"], GetParam());
    for (const Factory make : {&make_device_optimizer, &make_on_host}) {
      for (const auto& [dtype, tolerance] : {std::pair{at::kBFloat16, 0.02}, {at::kHalf, 0.005}}) {
        const std::int64_t copies = copies_for(options, kCopies);
        const auto parameters = optimized(make, options, dtype, copies);
        EXPECT_LE(largest_difference(parameters, entry["float64"], copies), tolerance);
      }
    }
  }
}

TEST_P(GoldenTest, OnTheHostItIsTheFusedUpdateToTheLastBit) {
  for (const Json& entry : cases_with(GetParam())) {
    SCOPED_TRACE(entry["options"].dump());
    const auto host =
        optimized(&make_on_host, options_of(entry["options"], GetParam()), at::kFloat);
    const auto device = optimized(&make_device_optimizer,
                                  options_of(entry["options"], Implementation::fused), at::kFloat);
    for (std::size_t i = 0; i < host.size(); ++i) EXPECT_TRUE(at::equal(host[i], device[i]));
  }
}

}  // namespace
}  // namespace headroom
