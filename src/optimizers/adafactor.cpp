// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <cmath>

#include "src/optimizers/update_rule.h"

namespace headroom {
namespace {

constexpr double kDecayExponent = -0.8;  // the second moment's decay is 1 - step^-0.8
constexpr double kSquareEps = 1e-30;     // added to the gradient's squares
constexpr double kMaxRms = 1.0;          // of an update, before the learning rate

/// Adafactor, without its own learning rate: as the Trainer of transformers sets it (relative_step
/// and scale_parameter off, no first moment). Of a matrix (..., N, M) it keeps the means of the
/// squares along each side, dtype * (N + M) bytes for each matrix; of a vector, the squares' mean
/// of each number. State is float32 for narrower parameters. Source: Shazeer & Stern 2018,
/// arXiv:1804.04235; the order of operations and the temporaries, two of the size of the parameter
/// at work and a root of each moment, are those of Adafactor in transformers 5.23.
class Adafactor final : public UpdateRule {
 public:
  explicit Adafactor(const OptimizerOptions& options) : options_(options) {}
  void apply(const UpdateTensors& tensors, const UpdateStep& step) override;

 private:
  OptimizerOptions options_;
};

bool is_factored(const at::Tensor& parameter) { return parameter.dim() >= 2; }

at::ScalarType state_dtype(const at::Tensor& parameter) {
  return at::isReducedFloatingType(parameter.scalar_type()) ? at::kFloat : parameter.scalar_type();
}

at::Tensor rms(const at::Tensor& tensor) {
  return tensor.norm(2) / std::sqrt(static_cast<double>(tensor.numel()));
}

/// The gradient over the root of its squares' moment, which takes them in. `rows` (..., N) and
/// `columns` (..., M), or `rows` alone, of the parameter's shape.
at::Tensor normalized(const at::Tensor& gradient, at::Tensor rows, at::Tensor columns,
                      double decay) {
  at::Tensor update = gradient.pow(2).add(kSquareEps);
  if (!columns.defined()) {
    rows.mul_(decay).add_(update, 1.0 - decay);
    update = rows.rsqrt();
  } else {
    rows.mul_(decay).add_(update.mean(-1), 1.0 - decay);
    columns.mul_(decay).add_(update.mean(-2), 1.0 - decay);
    const at::Tensor of_row = (rows / rows.mean(-1, /*keepdim=*/true)).rsqrt_().unsqueeze(-1);
    update = of_row.mul(columns.unsqueeze(-2).rsqrt());
  }
  return update.mul_(gradient);
}

void Adafactor::apply(const UpdateTensors& tensors, const UpdateStep& step) {
  const double decay = 1.0 - std::pow(step.number, kDecayExponent);
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    at::Tensor parameter = tensors.parameters[i];
    const at::ScalarType wide = state_dtype(parameter);
    at::Tensor weights = parameter.to(wide);  // the parameter itself, where it is as wide
    const at::Tensor columns = is_factored(parameter) ? tensors.state[1][i] : at::Tensor();
    at::Tensor update =
        normalized(tensors.gradients[i].to(wide), tensors.state[0][i], columns, decay);
    update.div_((rms(update) / kMaxRms).clamp_min_(1.0));
    update.mul_(step.lr);
    if (options_.weight_decay != 0.0) weights.add_(weights, -options_.weight_decay * step.lr);
    weights.add_(update.neg());
    parameter.copy_(weights);  // no work where they are one
  }
}

std::unique_ptr<UpdateRule> make_adafactor(const OptimizerOptions& options, StateFactory) {
  return std::make_unique<Adafactor>(options);
}

std::vector<StateTensor> factored_moment(const OptimizerOptions&, const at::Tensor& parameter) {
  const std::vector<std::int64_t> shape = parameter.sizes().vec();
  const at::ScalarType dtype = state_dtype(parameter);
  if (!is_factored(parameter)) return {{shape, dtype}};
  std::vector<std::int64_t> rows(shape.begin(), shape.end() - 1);
  std::vector<std::int64_t> columns(shape.begin(), shape.end() - 2);
  columns.push_back(shape.back());
  return {{std::move(rows), dtype}, {std::move(columns), dtype}};
}

constexpr Implementation kAdafactorImplementations[] = {Implementation::per_tensor};

}  // namespace

extern constinit const OptimizerEntry kAdafactor{
    .name = "adafactor",
    .summary = "a second moment of a matrix's rows and columns alone; no first moment",
    .implementations = kAdafactorImplementations,
    .make = &make_adafactor,
    .state = &factored_moment,
    .works_on_parts = false,
};

}  // namespace headroom
