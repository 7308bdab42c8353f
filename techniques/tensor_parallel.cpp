// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/grad_mode.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/core/error.h"
#include "techniques/parallel_products.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

/// How a parameter is cut: a dimension, of so many sections behind one another.
struct Cut {
  std::int64_t dimension;
  std::int64_t sections;

  /// This rank's part, a copy.
  at::Tensor operator()(const at::Tensor& whole, const ProcessGroup& group) const {
    return whole.unflatten(dimension, {sections, group.ranks(), -1})
        .select(dimension + 1, group.rank())
        .flatten(dimension, dimension + 1)
        .clone(at::MemoryFormat::Contiguous);
  }

  /// Which part of the whole it is.
  TensorPart place_of(const at::Tensor& part, const ProcessGroup& group) const {
    TensorPart place{.shape = part.sizes().vec(), .dimension = dimension, .rows = {}};
    const std::int64_t own = part.size(dimension) / sections;
    place.shape[static_cast<std::size_t>(dimension)] *= group.ranks();
    for (std::int64_t section = 0; section < sections; ++section) {
      const std::int64_t begin = (section * group.ranks() + group.rank()) * own;
      place.rows.push_back({begin, begin + own});
    }
    return place;
  }
};

using Cuts = std::map<const void*, Cut>;

void check_cut(const ParallelLinear& layer, const Model& model, std::int64_t ranks) {
  const bool is_column = layer.style == ParallelLinear::Style::column;
  const std::int64_t width = layer.linear.weight.size(layer.dimension()) / layer.sections;
  const std::int64_t groups = width / layer.group;
  if (groups % ranks == 0) return;
  std::string name;
  for (const Parameter& parameter : model.parameters()) {
    if (parameter.tensor.is_same(layer.linear.weight)) name = parameter.name;
  }
  throw Unsupported("tensor_parallel: " + name + " has " + std::to_string(groups) +
                    (layer.group > 1 ? " heads"
                     : is_column     ? " outputs"
                                     : " inputs") +
                    ", which " + std::to_string(ranks) + " ranks can't share equally");
}

Cuts cuts_of(Model& model, std::int64_t ranks) {
  Cuts cuts;
  for (const Block& block : model.blocks()) {
    for (const ParallelLinear& layer : block.parallel_layers) {
      check_cut(layer, model, ranks);
      const bool is_column = layer.style == ParallelLinear::Style::column;
      cuts[key_of(layer.linear.weight)] = {layer.dimension(), layer.sections};
      if (is_column && layer.linear.bias.defined()) {
        cuts[key_of(layer.linear.bias)] = {0, layer.sections};
      }
    }
  }
  return cuts;
}

/// Puts this rank's part of a parameter in its place.
void put(Step& step, const Recipe& recipe, const Cuts& cuts, const at::Tensor& parameter,
         const at::Tensor& values) {
  const at::NoGradGuard no_grad;
  const auto cut = cuts.find(key_of(parameter));
  at::Tensor part = cut == cuts.end() ? values.clone() : cut->second(values, *step.group);
  part = part.to(recipe.device).to(recipe.dtype);
  parameter.set_data(part);
  step.ledger.tag(parameter, Category::weights);
}

/// Parts, and of the first rank what all have.
std::vector<WeightPart> own_weights(const Step& step, const Cuts& cuts) {
  std::vector<WeightPart> weights;
  for (const Parameter& p : step.model.parameters()) {
    const auto cut = cuts.find(key_of(p.tensor));
    if (cut != cuts.end()) {
      weights.push_back({p.name, cut->second.place_of(p.tensor, *step.group), p.tensor});
    } else if (step.group->rank() == 0) {
      weights.push_back({p.name, TensorPart::whole(p.tensor.sizes()), p.tensor});
    }
  }
  return weights;
}

/// A gradient that is not of a part is the same on all ranks: the first one counts it.
void count_each_gradient_once(Step& step, const Cuts& cuts) {
  for (const at::Tensor& trained : step.trained) {
    step.share.counts.push_back(step.group->rank() == 0 || cuts.contains(key_of(trained)));
  }
  step.share.complete = [&step](at::Tensor& sum) { step.group->sum(sum); };
}

/// What blocks read and ranks do not share has, of each rank's tokens, a part of its gradient.
void sum_gradients_of_tokens(Step& step, const Cuts& cuts) {
  std::map<const void*, bool> is_partial;
  for (const Block& block : step.model.blocks()) {
    for (const at::Tensor& parameter : block.parameters) {
      is_partial[key_of(parameter)] = !cuts.contains(key_of(parameter));
    }
  }
  std::vector<std::size_t> partial;
  for (std::size_t i = 0; i < step.trained.size(); ++i) {
    if (is_partial[key_of(step.trained[i])]) partial.push_back(i);
  }
  step.collect_gradients = [&step, partial, inner = std::move(step.collect_gradients)] {
    inner();
    std::vector<Collective> sums;
    for (const std::size_t index : partial) {
      const at::Tensor& gradient = step.trained[index].grad();
      if (gradient.defined()) sums.push_back(step.group->all_reduce(gradient));
    }
    for (Collective& sum : sums) sum.wait();
  };
}

/// Ranks work on the same samples, and each computes a part of the products of each block: of
/// attention and of the feed-forward layer, the first product is column-parallel and the second
/// row-parallel. `sequence_parallel` cuts all activations of the blocks.
class TensorParallel final : public Technique {
 public:
  void fields(Fields& f) override;
  void edit_recipe(Recipe& recipe) const override;
  void check_recipe(const Recipe& recipe) const override;
  /// Throws Unsupported where a layer can't be cut in as many equal parts as there are ranks.
  void split_parameters(Step& step, const Recipe& recipe) const override;
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;

 private:
  bool sequence_parallel_ = false;
};

void TensorParallel::fields(Fields& f) {
  f.boolean({"sequence_parallel", "what is not a product works on a rank's own tokens alone"},
            sequence_parallel_);
}

void TensorParallel::edit_recipe(Recipe& recipe) const {
  recipe.joins_ranks = true;
  recipe.replicates_batch = true;
  recipe.cuts_parameters = true;
}

void TensorParallel::check_recipe(const Recipe& recipe) const {
  if (!find_model(recipe.model.name).names_layers) {
    throw Unsupported("tensor_parallel: the blocks of " + recipe.model.name +
                      " have no layers that ranks can cut");
  }
  if (recipe.model.dropout > 0.0) {
    throw Unsupported(
        "tensor_parallel: ranks would have to draw one dropout for what they all compute and "
        "others for what they share; model.dropout can be 0");
  }
}

void TensorParallel::split_parameters(Step& step, const Recipe& recipe) const {
  const Cuts cuts = cuts_of(step.model, step.group->ranks());
  const std::span<const Parameter> parameters = step.model.parameters();
  if (step.draw_parameters) {
    step.draw_parameters([&](std::size_t index, const at::Tensor& values) {
      put(step, recipe, cuts, parameters[index].tensor, values);
    });
  } else {
    for (const Parameter& parameter : parameters) {
      put(step, recipe, cuts, parameter.tensor, parameter.tensor.detach());
    }
  }
  step.model.products() = std::make_unique<ParallelProducts>(step, sequence_parallel_);
  step.own_weights = [&step, cuts] { return own_weights(step, cuts); };
  count_each_gradient_once(step, cuts);
  if (sequence_parallel_) sum_gradients_of_tokens(step, cuts);
}

std::string TensorParallel::why_inactive(const Evidence& evidence, const Recipe&) const {
  if (evidence.reductions == 0) return "no product was summed over ranks";
  return sequence_parallel_ && evidence.gathers == 0 ? "no tokens were gathered" : "";
}

}  // namespace

// A parameter's gradient is there before it is that of all ranks.
constexpr std::string_view kTensorParallelExcludes[] = {"optimizer_in_backward", "cpu_offload"};

extern constinit const TechniqueEntry kTensorParallel{
    .name = "tensor_parallel",
    .summary = "ranks share the products of each block, and work on the same samples",
    .saves =
        "16Q (1 - 1/N) of the Q parameters in the blocks' products; activations between them, "
        "times 1 - 1/N",
    .costs = "four sums over ranks of a (B, T, D) tensor for each block",
    .source =
        "Shoeybi et al. 2019, arXiv:1909.08053; Korthikanti et al. 2022, "
        "arXiv:2205.05198",
    .make = &make_technique<TensorParallel>,
    .loss_tolerance = 1e-5,
    .gradient_tolerance = 1e-4,
    .excludes = kTensorParallelExcludes,
    .joins_ranks = true,
    .replicates_batch = true,
};

}  // namespace headroom
