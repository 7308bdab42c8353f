// SPDX-License-Identifier: Apache-2.0
// One update of Adam over bert_mini's parameters, by implementation.
#include <ATen/ops/full_like.h>
#include <benchmark/benchmark.h>

#include <vector>

#include "models/table.h"
#include "src/optimizers/optimizer.h"

namespace headroom {
namespace {

std::vector<at::Tensor> parameters_with_gradients(const Model& model) {
  std::vector<at::Tensor> tensors;
  for (const Parameter& parameter : model.parameters()) {
    tensors.push_back(parameter.tensor);
    tensors.back().mutable_grad() = at::full_like(parameter.tensor.detach(), 1e-3);
  }
  return tensors;
}

void adam(benchmark::State& state, Implementation implementation) {
  ModelOptions options;
  options.name = "bert_mini";
  const auto model =
      find_model(options.name)
          .make(options, {.sequence_length = 32}, ParameterFactory(at::kCPU, at::kFloat));
  const auto optimizer = make_device_optimizer({.name = "adam", .implementation = implementation},
                                               parameters_with_gradients(*model));
  const auto update = [&] {
    optimizer->begin_step();
    optimizer->update_all();
  };
  update();  // makes the state
  for (auto _ : state) update();
  state.SetItemsProcessed(state.iterations() * model->parameter_count());
}

BENCHMARK_CAPTURE(adam, per_tensor, Implementation::per_tensor)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(adam, multi_tensor, Implementation::multi_tensor)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(adam, fused, Implementation::fused)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace headroom
