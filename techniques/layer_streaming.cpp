// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "techniques/narrow_weights.h"
#include "techniques/streamed_model.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// Weights, gradients and state stay on the host. Blocks come one by one, and all micro-batches of
/// a step run through one before the next. Of the device's memory there are two blocks' weights and
/// two blocks' gradients, what stands between two blocks, and one micro-batch of a block's run.
class LayerStreaming final : public Technique {
 public:
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override;
  void check_recipe(const Recipe& recipe) const override;
  void split_parameters(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  WeightDtype parameter_dtype_ = WeightDtype::same;
};

void LayerStreaming::fields(Fields& f) {
  f.choice(
      {"parameter_dtype", "of weights and gradients on the device; same: as the host updates them"},
      parameter_dtype_);
}

void LayerStreaming::edit_recipe(Recipe& recipe) const {
  recipe.weights_on = WeightsOn::host;
  recipe.weights_at_work = scalar_type(parameter_dtype_);
}

void LayerStreaming::check_recipe(const Recipe& recipe) const {
  if (find_model(recipe.model.name).between != Between::tokens) {
    throw Unsupported(
        "layer_streaming keeps what stands between two blocks in one tensor, for all blocks; those "
        "of " +
        recipe.model.name + " hand on other shapes each");
  }
  if (recipe.autocast == at::kHalf && is_narrow(parameter_dtype_)) {
    throw Unsupported(kNoScalingOfNarrowGradients);
  }
}

void LayerStreaming::split_parameters(Step& step, const Recipe& recipe) const {
  StreamedModel::take_over(step, recipe,
                           {.on_host = recipe.dtype, .on_device = recipe.dtype_at_work()});
}

std::string LayerStreaming::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.fetched_bytes == 0) return "no block fetched its weights";
  if (evidence.offloaded_bytes == 0) return "no gradient went to the host";
  if (evidence.recomputed_blocks == 0) return "no block ran again";
  const bool ran = !is_narrow(parameter_dtype_) || evidence.low_precision_flops > 0;
  return ran ? "" : "no product ran in 16 bits";
}

}  // namespace

constexpr std::string_view kLayerStreamingExcludes[] = {"activation_checkpointing",
                                                        "optimizer_offload",
                                                        "optimizer_in_backward",
                                                        "cpu_offload",
                                                        "ddp",
                                                        "zero_1",
                                                        "zero_2",
                                                        "fsdp",
                                                        "tensor_parallel"};

extern constinit const TechniqueEntry kLayerStreaming{
    .name = "layer_streaming",
    .summary = "a block comes from the host, all micro-batches run through it, then the next one",
    .saves =
        "16P of weights, gradients and Adam's state, but for two blocks' weights and gradients; "
        "what blocks save, but one micro-batch's in one block",
    .costs =
        "over the host link a step 12P and twice L (B, T, D) of the batch; one more "
        "forward of the blocks; an update at the host's speed",
    .source = "Pudipeddi et al. 2020 (L2L), arXiv:2002.05645; ZeRO-Infinity, arXiv:2104.07857",
    .make = &make_technique<LayerStreaming>,
    .rounds_by = kNarrowWeights,
    .excludes = kLayerStreamingExcludes,
    .fit_cost = {.host_link = 2, .recompute = 1},
};

}  // namespace headroom
