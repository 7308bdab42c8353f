// SPDX-License-Identifier: Apache-2.0
#include "tests/techniques/contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "src/core/error.h"
#include "src/optimizers/update_rule.h"
#include "src/worker/case.h"

namespace headroom {
namespace {

/// The host updates by the fused kernels, where the optimizer has some.
void update_as_on_host(Json& values) {
  Json& optimizer = values["train"]["optimizer"];
  const auto& row = find_optimizer(optimizer.value("name", OptimizerOptions{}.name));
  if (std::ranges::count(row.implementations, Implementation::fused) > 0) {
    optimizer["implementation"] = "fused";
  }
}

// Momentum, so that there is state to offload.
Json sgd_options() { return {{"lr", 0.02}, {"momentum", 0.9}}; }

constexpr std::array kContracts{
    Contract{.technique = "gradient_accumulation",
             .promise = Promise::same_sums,
             .options =
                 [] {
                   return Json{{"micro_batches", 3}};
                 }},  // of 3, 3 and 2 samples
    Contract{.technique = "mixed_precision",
             .promise = Promise::rounding,
             .loss_tolerance = 2e-2,
             .options =
                 [] {
                   return Json{{"dtype", "bfloat16"}};
                 }},  // float16: loss_scaler_test
    Contract{.technique = "bfloat16", .promise = Promise::rounding, .loss_tolerance = 5e-2},
    Contract{.technique = "sgd",
             .options = &sgd_options,
             .edit_control =
                 [](Json& values) {
                   Json& optimizer = values["train"]["optimizer"];
                   Json swapped = {{"name", "sgd"}};
                   swapped.update(sgd_options());
                   if (optimizer.contains("implementation")) {
                     swapped["implementation"] = optimizer["implementation"];
                   }
                   optimizer = swapped;
                 }},
    Contract{.technique = "lora", .promise = Promise::same_start, .of_named_layers = true},
    Contract{.technique = "on_device_init", .needs = "bfloat16"},
    Contract{.technique = "activation_checkpointing"},
    Contract{.technique = "activation_offload"},
    Contract{.technique = "compressed_activations",
             .promise = Promise::rounding,
             .loss_tolerance = 1e-2},
    Contract{.technique = "recomputed_nonlinearity", .of_one_shape = true},
    Contract{.technique = "chunked_loss",
             .promise = Promise::same_sums,
             .options =
                 [] {
                   return Json{{"chunks", 3}};
                 },  // of 2, 1 and 1 tokens
             .of_tokens = true},
    Contract{.technique = "optimizer_offload", .edit_control = &update_as_on_host},
    Contract{.technique = "optimizer_in_backward"},
    Contract{.technique = "cuda_graphs", .of_cuda = true},  // cuda_graphs_test
    // On one rank; on many: tests/ranks.
    Contract{.technique = "ddp", .for_idle_parameters = "find_unused_parameters"},
    Contract{.technique = "zero_1", .promise = Promise::same_training},
    Contract{.technique = "zero_2", .promise = Promise::same_training},
    Contract{.technique = "fsdp", .promise = Promise::same_training},
    // Bias and product are added one after the other.
    Contract{
        .technique = "tensor_parallel", .promise = Promise::same_sums, .of_named_layers = true},
    Contract{.technique = "cpu_offload",
             .promise = Promise::same_training,
             .edit_control = &update_as_on_host},
    Contract{
        .technique = "layer_streaming", .edit_control = &update_as_on_host, .of_one_shape = true},
};

}  // namespace

std::span<const Contract> contracts() { return kContracts; }

const Contract& contract_of(std::string_view name) {
  static const Contract kNone;
  for (const Contract& contract : kContracts) {
    if (contract.technique == name) return contract;
  }
  ADD_FAILURE() << "tests/techniques/contract.cpp says nothing of " << name;
  return kNone;
}

const ModelEntry& row_of_model(const Json& values) {
  return find_model(values["model"]["name"].get<std::string>());
}

bool fits(const Contract& contract, const Json& values) {
  const ModelEntry& model = row_of_model(values);
  return (model.tells_tokens || !contract.of_tokens) &&
         (model.between == Between::tokens || !contract.of_one_shape) &&
         (model.names_layers || !contract.of_named_layers) && !contract.of_cuda;
}

Json contracted(std::string_view name) {
  const Contract& contract = contract_of(name);
  return technique(std::string(name), contract.options ? contract.options() : Json::object());
}

bool refused(const Json& values) {
  try {
    read_case(values, at::kCPU);
    return false;
  } catch (const Unsupported&) {
    return true;
  }
}

}  // namespace headroom
