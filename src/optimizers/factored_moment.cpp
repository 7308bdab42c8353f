// SPDX-License-Identifier: Apache-2.0
#include "src/optimizers/factored_moment.h"

#include <ATen/TensorOperators.h>

#include <cmath>
#include <utility>

namespace headroom {
namespace {

constexpr double kDecayExponent = -0.8;  // the moment's decay is 1 - number^-0.8
constexpr double kSquareEps = 1e-30;     // added to the gradient's squares
constexpr double kMaxRms = 1.0;          // of an update, before the learning rate

bool is_factored(const at::Tensor& parameter) { return parameter.dim() >= 2; }

at::Tensor squares_of(const at::Tensor& gradient, FactoredTemporaries temporaries) {
  return temporaries == FactoredTemporaries::two ? gradient.pow(2).add(kSquareEps)
                                                 : gradient.pow(2).add_(kSquareEps);
}

/// The gradient over the root of its squares' moment, which takes them in. `rows` (..., N) and
/// `columns` (..., M), or `rows` alone, of the parameter's shape.
at::Tensor normalized(const at::Tensor& gradient, at::Tensor rows, at::Tensor columns, double decay,
                      FactoredTemporaries temporaries) {
  at::Tensor squares = squares_of(gradient, temporaries);
  if (columns.defined()) {
    rows.mul_(decay).add_(squares.mean(-1), 1.0 - decay);
    columns.mul_(decay).add_(squares.mean(-2), 1.0 - decay);
  } else {
    rows.mul_(decay).add_(squares, 1.0 - decay);
  }
  if (temporaries == FactoredTemporaries::one) squares.reset();  // else at the end
  if (!columns.defined()) return rows.rsqrt().mul_(gradient);
  const at::Tensor of_row = (rows / rows.mean(-1, /*keepdim=*/true)).rsqrt_().unsqueeze(-1);
  const at::Tensor update = of_row.mul(columns.unsqueeze(-2).rsqrt());
  return update.mul_(gradient);
}

}  // namespace

std::vector<StateTensor> factored_moment(const OptimizerOptions&, const at::Tensor& parameter) {
  const std::vector<std::int64_t> shape = parameter.sizes().vec();
  const at::ScalarType dtype = wide_dtype(parameter);
  if (!is_factored(parameter)) return {{shape, dtype}};
  std::vector<std::int64_t> rows(shape.begin(), shape.end() - 1);
  std::vector<std::int64_t> columns(shape.begin(), shape.end() - 2);
  columns.push_back(shape.back());
  return {{std::move(rows), dtype}, {std::move(columns), dtype}};
}

at::ScalarType wide_dtype(const at::Tensor& parameter) {
  return at::isReducedFloatingType(parameter.scalar_type()) ? at::kFloat : parameter.scalar_type();
}

at::Tensor rms(const at::Tensor& tensor) {
  return tensor.norm(2) / std::sqrt(static_cast<double>(tensor.numel()));
}

at::Tensor factored_update(const UpdateTensors& tensors, std::size_t index, std::int64_t number,
                           FactoredTemporaries temporaries) {
  const at::Tensor& parameter = tensors.parameters[index];
  const double decay = 1.0 - std::pow(number, kDecayExponent);
  const at::Tensor columns = is_factored(parameter) ? tensors.state[1][index] : at::Tensor();
  at::Tensor update = normalized(tensors.gradients[index].to(wide_dtype(parameter)),
                                 tensors.state[0][index], columns, decay, temporaries);
  return update.div_((rms(update) / kMaxRms).clamp_min_(1.0));
}

}  // namespace headroom
