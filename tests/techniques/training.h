// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/memory/device_memory.h"
#include "techniques/technique.h"
#include "tests/support/case.h"

// Trains small cases through the worker's own reader and trainer, with the ledger beside them.
namespace headroom {

/// vit_ti_16 on digits of 32 pixels, or bert_mini on 16 random tokens, or gpt2_mini or a llama_mini
/// of 2 layers of width 64 on 4 of them: a batch of 8, Adam, no dropout, no technique.
Json small_vit();
/// vit_mini on digits of 64 pixels, for what is trained hundreds of times.
Json mini_vit();
Json small_bert();
Json small_gpt2();
/// resnet_mini on digits of 64 pixels, and llama_mini with 2 layers of width 64, likewise.
Json mini_resnet();
Json small_llama();
/// With small steps: normalisation by few numbers makes more of rounding, and Adam a whole step.
Json steady_resnet();
/// bigbird_mini on 96 random tokens, to which it attends by blocks.
Json small_bigbird();

/// What a training did and what the ledger saw of it.
struct Trained {
  std::vector<double> losses;
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> buffers;
  double gradient_norm = 0.0;  // of the first step; 0: the trainer tells none
  Evidence evidence;
  std::string inactive;  // why techniques were; empty where all were active

  std::int64_t init_peak_bytes = 0;
  std::int64_t steps_peak_bytes = 0;   // of all steps
  std::int64_t ledger_peak_bytes = 0;  // the ledger's own figure for the larger of both
  std::int64_t weight_bytes = 0;       // at the end
  std::int64_t state_bytes = 0;        // at the end, tagged as optimizer state
  std::int64_t host_pool_bytes = 0;    // held by the trainer at the end
  std::int64_t saved_bytes = 0;  // activations at the end of the last forward; not the other kinds
  std::int64_t kept_in_blocks_bytes =
      0;  // by hooks that offload would move, all steps, if none does
  std::int64_t most_gradient_bytes = 0;  // when a gradient arrived, in any step
  std::size_t idle_parameters = 0;       // trained ones, of which no gradient arrived in any step
};

/// Takes `steps` steps, of which the second is the counted one. `innermost` is listed before the
/// case's own techniques. Throws what reading the case throws.
Trained train(const Json& values, int steps, std::unique_ptr<Technique> innermost = nullptr,
              at::Device device = at::kCPU);

/// The same, once for equal arguments: what many tests are held against. Keeps what it returns.
const Trained& trained_once(const Json& values, int steps);

/// The largest distance of two trainings' weights over the largest weight.
double weight_distance(const Trained& a, const Trained& b);
/// The largest relative distance of losses.
double loss_distance(const Trained& a, const Trained& b);
double gradient_distance(const Trained& a, const Trained& b);
/// The largest distance of two buffers, each over the buffer's largest value.
double buffer_distance(const Trained& a, const Trained& b);
/// Losses, weights, buffers and gradient norm are equal to the last bit.
bool same_bits(const Trained& a, const Trained& b);

}  // namespace headroom
