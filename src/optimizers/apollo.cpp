// SPDX-License-Identifier: Apache-2.0
#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "src/optimizers/update_rule.h"

namespace headroom {
namespace {

constexpr double kNormEps = 1e-8;     // added to norms that divide
constexpr double kMostGrowth = 1.01;  // of a scaled gradient's norm from update to update

/// APOLLO: gradients scaled by what Adam would do to them after a random projection to a few
/// dimensions. Of a matrix of N rows and M columns, the smaller of which is above `rank`, it keeps
/// two moments of max(N, M) * rank numbers and the norm of the last scaled gradient, in the
/// parameter's dtype: 2 max(N, M) rank + 1 numbers; of all else Adam's two moments. The projection
/// is drawn anew at each update from its seed, as the authors count it, so it is no state; each
/// `interval` updates the seed is another. At work on a matrix: one temporary of its size, and the
/// projection, min(N, M) * rank float32. Weight decay is decoupled, and comes after the step.
/// Source: Zhu et al. 2024, arXiv:2412.05270; seeds and the order of operations are those of
/// apollo-torch 1.0.3 with proj "random" and proj_type "std", which keeps the projection.
class Apollo final : public UpdateRule {
 public:
  explicit Apollo(const OptimizerOptions& options) : options_(options) {}
  void apply(const UpdateTensors& tensors, const UpdateStep& step) override;

 private:
  struct Projection {
    std::int64_t seed = 0;
    std::int64_t updates = 0;  // of its parameter so far
  };

  at::Tensor projected(Projection& projection, const at::Tensor& gradient, std::int64_t side) const;
  at::Tensor adam_step(at::Tensor first, at::Tensor second, const at::Tensor& gradient) const;
  at::Tensor factors(const UpdateTensors& tensors, std::size_t i, Projection& projection);
  at::Tensor scaled(const UpdateTensors& tensors, std::size_t i);

  OptimizerOptions options_;
  std::map<std::size_t, Projection> projections_;  // by parameter
};

bool is_projected(const OptimizerOptions& options, const at::Tensor& parameter) {
  return parameter.dim() == 2 &&
         std::min(parameter.size(0), parameter.size(1)) > options.projection_rank;
}

/// Along which side of a matrix it is projected: the shorter one, of equals the second.
std::int64_t projected_side(const at::Tensor& matrix) {
  return matrix.size(0) < matrix.size(1) ? 0 : 1;
}

std::int64_t next_seed(std::int64_t seed) {
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU).clone();
  generator.set_current_seed(static_cast<std::uint64_t>(seed));
  constexpr std::int64_t kDraws = 15;  // of which the last counts
  return at::randint(0, std::numeric_limits<std::int64_t>::max(), {kDraws}, generator, at::kLong)
      .select(0, kDraws - 1)
      .item<std::int64_t>();
}

/// The gradient (N, M) with `rank` in place of its projected side.
at::Tensor Apollo::projected(Projection& projection, const at::Tensor& gradient,
                             std::int64_t side) const {
  if (projection.updates > 0 && projection.updates % options_.projection_interval == 0) {
    projection.seed = next_seed(projection.seed);
  }
  const std::int64_t rank = options_.projection_rank;
  const std::vector<std::int64_t> shape =
      side == 0 ? std::vector{gradient.size(0), rank} : std::vector{rank, gradient.size(1)};
  at::Generator generator = at::globalContext().defaultGenerator(gradient.device()).clone();
  generator.set_current_seed(static_cast<std::uint64_t>(projection.seed));
  const at::Tensor drawn = at::randn(shape, generator, gradient.options().dtype(at::kFloat))
                               .div_(std::sqrt(static_cast<double>(rank)))
                               .to(gradient.scalar_type());
  return side == 0 ? at::matmul(drawn.t(), gradient) : at::matmul(gradient, drawn.t());
}

/// Fira's limiter (Chen et al. 2024, arXiv:2410.01623): a norm grows by 1 % at most from update to
/// update. `last_norm` (1) becomes the new one.
void limit_growth(at::Tensor gradient, at::Tensor last_norm, bool is_first) {
  at::Tensor norm = gradient.norm();
  if (!is_first) {
    const at::Tensor limiter =
        norm.div(last_norm + kNormEps).clamp_min_(kMostGrowth).div_(kMostGrowth);
    gradient.div_(limiter);
    norm = norm.div(limiter);
  }
  last_norm.copy_(norm);
}

/// Takes the gradient into both moments; Adam's step before the learning rate.
at::Tensor Apollo::adam_step(at::Tensor first, at::Tensor second,
                             const at::Tensor& gradient) const {
  first.mul_(options_.beta1).add_(gradient, 1.0 - options_.beta1);
  second.mul_(options_.beta2).addcmul_(gradient, gradient, 1.0 - options_.beta2);
  return second.sqrt().add_(options_.eps).reciprocal_().mul_(first);
}

/// What a gradient's parts are to be multiplied by: one factor for each of the side that is not
/// projected, or one for all. Takes the gradient into the moments.
at::Tensor Apollo::factors(const UpdateTensors& tensors, std::size_t i, Projection& projection) {
  const std::int64_t side = projected_side(tensors.gradients[i]);
  const at::Tensor low = projected(projection, tensors.gradients[i], side);
  const at::Tensor step = adam_step(tensors.state[0][i], tensors.state[1][i], low);
  if (options_.scale_by == ScaledPart::tensor) {
    return step.norm().div_(low.norm().add_(kNormEps));
  }
  return step.norm(2, side, /*keepdim=*/true).div_(low.norm(2, side, true).add_(kNormEps));
}

/// The gradient of matrix `i`, scaled, in a new tensor.
at::Tensor Apollo::scaled(const UpdateTensors& tensors, std::size_t i) {
  const auto seed = static_cast<std::int64_t>(tensors.indices[i]) + 1;
  Projection& projection =
      projections_.try_emplace(tensors.indices[i], Projection{.seed = seed}).first->second;
  at::Tensor result = tensors.gradients[i] * factors(tensors, i, projection);
  limit_growth(result, tensors.state[2][i], /*is_first=*/projection.updates == 0);
  ++projection.updates;
  return result.mul_(std::sqrt(options_.scale));
}

void Apollo::apply(const UpdateTensors& tensors, const UpdateStep& step) {
  const double correction1 = 1.0 - std::pow(options_.beta1, step.number);
  const double correction2 = std::sqrt(1.0 - std::pow(options_.beta2, step.number));
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    at::Tensor parameter = tensors.parameters[i];
    const at::Tensor update =
        is_projected(options_, parameter)
            ? scaled(tensors, i)
            : adam_step(tensors.state[0][i], tensors.state[1][i], tensors.gradients[i]);
    parameter.add_(update, -step.lr * correction2 / correction1);
    if (options_.weight_decay != 0.0) parameter.mul_(1.0 - step.lr * options_.weight_decay);
  }
}

std::unique_ptr<UpdateRule> make_apollo(const OptimizerOptions& options, StateFactory) {
  return std::make_unique<Apollo>(options);
}

std::vector<StateTensor> projected_moments(const OptimizerOptions& options,
                                           const at::Tensor& parameter) {
  const at::ScalarType dtype = parameter.scalar_type();
  std::vector<std::int64_t> shape = parameter.sizes().vec();
  if (!is_projected(options, parameter)) return {2, {shape, dtype}};
  shape[static_cast<std::size_t>(projected_side(parameter))] = options.projection_rank;
  return {{shape, dtype}, {shape, dtype}, {{1}, dtype}};
}

constexpr Implementation kApolloImplementations[] = {Implementation::per_tensor};

}  // namespace

extern constinit const OptimizerEntry kApollo{
    .name = "apollo",
    .summary = "gradients scaled by Adam's steps of a few random directions of a matrix",
    .implementations = kApolloImplementations,
    .make = &make_apollo,
    .state = &projected_moments,
    .works_on_parts = false,
};

}  // namespace headroom
