// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/core/error.h"
#include "techniques/low_rank_products.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// Which layers of a block get a product of low rank.
enum class LoraTargets {
  query_key_value,  // attention's first products; GPT-2's and ViT's are one layer each
  attention,        // and attention's last
  all_linear,       // and the feed-forward layer's: all that a block multiplies by
};

/// Attention's layers keep the outputs, or the inputs, of a head together.
bool is_target(const ParallelLinear& layer, LoraTargets targets) {
  if (targets == LoraTargets::all_linear) return true;
  const bool is_attention = layer.group > 1;
  return is_attention &&
         (targets == LoraTargets::attention || layer.style == ParallelLinear::Style::column);
}

/// A layer that is a target, and how its weight and its A and B are named.
struct Target {
  ParallelLinear layer;
  std::string weight;  // "layer.0.query.weight"; torchvision has an "in_proj_weight"

  std::string name_of(const char* which) const {
    constexpr std::size_t kEnding = std::string_view(".weight").size();
    return weight.substr(0, weight.size() - kEnding) + ".lora_" + which + ".weight";
  }
  std::int64_t inputs() const { return layer.linear.weight.size(layer.keeps_transposed ? 0 : 1); }
  std::int64_t outputs() const { return layer.linear.weight.size(layer.keeps_transposed ? 1 : 0); }
};

std::vector<Target> targets_of(Model& model, LoraTargets targets) {
  std::unordered_map<const void*, std::string> names;
  for (const Parameter& p : model.parameters()) names[key_of(p.tensor)] = p.name;
  std::vector<Target> found;
  for (const Block& block : model.blocks()) {
    for (const ParallelLinear& layer : block.parallel_layers) {
      if (!is_target(layer, targets)) continue;
      found.push_back({layer, names.at(key_of(layer.linear.weight))});
    }
  }
  return found;
}

/// What is added to a weight that is saved.
struct Merging {
  LowRank low_rank;
  bool is_transposed;
};

/// The parts of W, A and B that this rank is to save, as those of W + scale * B A.
std::vector<WeightPart> merge(std::vector<WeightPart> parts,
                              const std::unordered_map<std::string, Merging>& merging) {
  std::erase_if(parts, [](const WeightPart& part) {
    return part.name.ends_with(".lora_A.weight") || part.name.ends_with(".lora_B.weight");
  });
  for (WeightPart& part : parts) {
    const auto found = merging.find(part.name);
    if (found == merging.end()) continue;
    part.values = merged(part.values, found->second.low_rank, found->second.is_transposed);
  }
  return parts;
}

/// Blocks multiply by W + (alpha / rank) B A, of which A (rank, in) and B (out, rank) are trained,
/// and the classifier; all else is frozen: it has no gradient and no state, and of a frozen layer
/// that has no B A the input is not kept. A is drawn as torch.nn.Linear's weight is, B is zeros, so
/// that training begins with what the model says without them. Saved weights are W + (alpha / rank)
/// B A. As peft does it, with lora_dropout 0, bias none and modules_to_save the classifier; in
/// 16-bit weights A and B have 16 bits as well (peft: autocast_adapter_dtype=False).
class Lora final : public Technique {
 public:
  void fields(Fields& f) override;
  void check_recipe(const Recipe& recipe) const override;
  /// Throws Unsupported where no layer of the model's blocks is a target.
  void extend_model(Model& model, ParameterFactory& factory) const override;
  void wrap_model(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  std::int64_t rank_ = 8;
  double alpha_ = 8.0;
  LoraTargets targets_ = LoraTargets::query_key_value;
};

void Lora::fields(Fields& f) {
  f.integer({"rank", "rows of A, and columns of B"}, rank_, {1, 65536});
  f.number({"alpha", "B A counts alpha / rank times"}, alpha_, {1e-6, 1e6});
  f.choice({"targets",
            "query_key_value: attention's first products; attention: its last as well; all_linear: "
            "all products of the blocks"},
           targets_);
}

void Lora::check_recipe(const Recipe& recipe) const {
  if (!find_model(recipe.model.name).names_layers) {
    throw Unsupported("lora: the blocks of " + recipe.model.name + " have no layers to tune");
  }
  if (recipe.cuts_parameters && !recipe.train.save_weights.empty()) {
    throw Unsupported(
        "lora saves W + B A, and a technique of the case cuts W, A and B into parts of their own; "
        "train.save_weights can be empty");
  }
}

void Lora::extend_model(Model& model, ParameterFactory& factory) const {
  for (const Parameter& parameter : model.parameters()) parameter.tensor.set_requires_grad(false);
  for (const at::Tensor& parameter : model.classifier()) parameter.set_requires_grad(true);
  const std::vector<Target> targets = targets_of(model, targets_);
  if (targets.empty()) throw Unsupported("lora: no layer of the model's blocks is a target");
  for (const Target& target : targets) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(target.inputs()));
    factory.uniform(target.name_of("A"), {rank_, target.inputs()}, bound);
    factory.constant(target.name_of("B"), {target.outputs(), rank_}, 0.0);
  }
}

void Lora::wrap_model(Step& step, const Recipe&) const {
  std::unordered_map<std::string, at::Tensor> parameters;
  for (const Parameter& p : step.model.parameters()) parameters[p.name] = p.tensor;
  LowRankOfWeight low_rank_of;
  std::unordered_map<std::string, Merging> merging;
  for (const Target& target : targets_of(step.model, targets_)) {
    const LowRank low_rank{.a = parameters.at(target.name_of("A")),
                           .b = parameters.at(target.name_of("B")),
                           .scale = alpha_ / static_cast<double>(rank_)};
    low_rank_of[key_of(target.layer.linear.weight)] = low_rank;
    merging[target.weight] = {low_rank, target.layer.keeps_transposed};
  }
  step.model.products() =
      std::make_unique<LowRankProducts>(std::move(low_rank_of), step.evidence.low_rank_products);
  step.own_weights = [merging, inner = std::move(step.own_weights)] {
    return merge(inner(), merging);
  };
}

std::string Lora::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.frozen_count == 0) return "no weight is frozen";
  return evidence.low_rank_products > 0 ? "" : "no product of low rank ran";
}

}  // namespace

// Both say by what blocks multiply. Streamed weights all have gradients, which come to the host.
constexpr std::string_view kLoraExcludes[] = {"tensor_parallel", "layer_streaming"};

extern constinit const TechniqueEntry kLora{
    .name = "lora",
    .summary =
        "weights are frozen; beside them products of low rank are trained, and the classifier",
    .saves =
        "of p trained parameters: 4 (P - p) of gradients and 8 (P - p) of Adam's state; inputs of "
        "frozen layers",
    .costs = "another training: of p = rank (in + out) a layer; its products, forward and backward",
    .source = "Hu et al. 2021, arXiv:2106.09685; peft",
    .make = &make_technique<Lora>,
    // B A adds zeros at first. MKL's products of CPUs with AVX-512 still round by where their
    // arrays lie, and what they are added up in lies elsewhere.
    .loss_tolerance = 1e-6,
    .excludes = kLoraExcludes,
    .trains_others = true,
    .fit_cost = {.numerics = 4},
    .changes = "what is trained",
};

}  // namespace headroom
