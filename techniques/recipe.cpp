// SPDX-License-Identifier: Apache-2.0
#include "techniques/recipe.h"

namespace headroom {
namespace {

std::string dtype_name(at::ScalarType dtype) {
  switch (dtype) {
    case at::kDouble:
      return "float64";
    case at::kHalf:
      return "float16";
    case at::kBFloat16:
      return "bfloat16";
    default:
      return "float32";
  }
}

}  // namespace

void TrainOptions::fields(Fields& f) {
  f.integer({"batch_size", "samples an update, on each rank"}, batch_size, {1, 1'048'576});
  f.object({"optimizer", "what updates the weights"}, [this](Fields& g) { optimizer.fields(g); });
  f.choice({"precision", "of weights and arithmetic, before techniques change it"}, precision);
  f.integer({"steps", "updates that are timed; all samples are kept"}, steps, {0, 10'000});
  f.integer({"warmup_steps", "updates before them, not timed"}, warmup_steps, {0, 10'000});
  f.integer({"seed", "of weights, order of the data and dropout"}, seed, {0, 4'294'967'295});
  f.choice({"zero_grad", "what becomes of gradients after use"}, zero_grad);
  f.choice({"zero_grad_when", "when that happens"}, zero_grad_when);
  f.number({"max_gradient_norm", "global norm to clip gradients to; 0: no clipping"},
           max_gradient_norm, {0.0, 1e6});
  f.boolean({"tf32", "TF32 products on CUDA"}, tf32);
  f.integer({"held_out_samples", "samples on which accuracy is read at the end; 0: none"},
            held_out_samples, {0, 1'000'000'000});
  f.choice({"backend",
            "what moves bytes between ranks; automatic: nccl on CUDA, else gloo; nccl_torch_2_7: "
            "what it worked on is used again later, as by PyTorch before 2.8"},
           backend);
  f.text({"save_weights",
          "folder for the trained weights: in one named as the case, a file for each rank that "
          "has some; empty: they are not kept"},
         save_weights);
}

std::int64_t Recipe::micro_batch_size() const {
  return (train.batch_size + micro_batches - 1) / micro_batches;
}

BatchShare Recipe::batch_share() const {
  return replicates_batch ? BatchShare{} : BatchShare{membership.rank, membership.ranks};
}

AutocastState Recipe::autocast_state() const {
  return {.device = device.type(),
          .enabled = autocast.has_value(),
          .dtype = autocast.value_or(at::kFloat),
          .keeps_casts = sharding != Sharding::weights && weights_on == WeightsOn::device};
}

std::string Recipe::precision_name() const {
  const bool is_mixed = product_dtype() != dtype;
  return (is_mixed ? "mixed_" : "") + dtype_name(product_dtype());
}

}  // namespace headroom
