// SPDX-License-Identifier: Apache-2.0
#include "src/worker/flops.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>
#include <atomic>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "models/inspect.h"

namespace headroom {
namespace {

using Inputs = c10::ArrayRef<const c10::IValue>;

// A step of many micro-batches may take more operations than an integer holds. A callback can't
// throw, so the largest integer stands for them: see so_far().
constexpr std::int64_t kTooMany = std::numeric_limits<std::int64_t>::max();

/// Of numbers that are not negative.
std::int64_t product_of(std::initializer_list<std::int64_t> factors) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) return kTooMany;
  }
  return result;
}

void add(std::atomic<std::int64_t>& sum, std::int64_t more) {
  std::int64_t before = sum.load();
  std::int64_t after = 0;
  do {
    if (__builtin_add_overflow(before, more, &after)) after = kTooMany;
  } while (!sum.compare_exchange_weak(before, after));
}

/// 2 * rows * inner * columns for (..., m, k) x (..., k, n), batches multiplied in.
std::int64_t product(const at::Tensor& a, const at::Tensor& b) {
  return product_of({2, a.numel(), b.size(-1)});
}

std::int64_t product_0_1(Inputs in) { return product(in[0].toTensor(), in[1].toTensor()); }
std::int64_t product_1_2(Inputs in) { return product(in[1].toTensor(), in[2].toTensor()); }

/// Attention has `products` products of 2 B H T S D each. q: (B, H, T, D), k: (B, H, S, D).
std::int64_t attention(const at::Tensor& q, const at::Tensor& k, std::int64_t products) {
  return product_of({products, 2, q.numel(), k.size(-2)});
}

std::int64_t attention_forward(Inputs in) {
  return attention(in[0].toTensor(), in[1].toTensor(), 2);
}

/// Behind the gradient: scores again, and the gradients of scores, q, k and v.
std::int64_t attention_backward(Inputs in) {
  return attention(in[1].toTensor(), in[2].toTensor(), 5);
}

/// Each of `outputs` elements is a product over the weight's (C/groups, kh, kw).
std::int64_t convolution(std::int64_t outputs, const at::Tensor& weight) {
  return product_of({2, outputs, weight.numel() / weight.size(0)});
}

/// A list that may name one value for all dimensions.
std::int64_t along(const std::vector<std::int64_t>& values, std::size_t dimension) {
  return values.size() == 1 ? values[0] : values[dimension];
}

/// aten::convolution(input, weight, bias, stride, padding, dilation, ...), not transposed.
std::int64_t convolution_forward(Inputs in) {
  const at::Tensor& input = in[0].toTensor();
  const at::Tensor& weight = in[1].toTensor();
  const auto stride = in[3].toIntVector();
  const auto padding = in[4].toIntVector();
  const auto dilation = in[5].toIntVector();
  std::int64_t outputs = input.size(0) * weight.size(0);
  for (std::int64_t d = 2; d < input.dim(); ++d) {
    const auto i = static_cast<std::size_t>(d - 2);
    const std::int64_t reach = along(dilation, i) * (weight.size(d) - 1) + 1;
    outputs *= (input.size(d) + 2 * along(padding, i) - reach) / along(stride, i) + 1;
  }
  return convolution(outputs, weight);
}

/// aten::convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation,
/// transposed, output_padding, groups, output_mask): as much again for each wanted gradient.
std::int64_t convolution_backward(Inputs in) {
  const auto mask = in[10].toBoolList();
  const std::int64_t wanted = (mask.get(0) ? 1 : 0) + (mask.get(1) ? 1 : 0);
  return product_of({wanted, convolution(in[0].toTensor().numel(), in[2].toTensor())});
}

struct Formula {
  std::string_view name;
  std::int64_t (*flops)(Inputs);
  std::size_t operand;  // the input whose dtype is the product's
};

constexpr std::array kFormulas{
    Formula{"aten::mm", &product_0_1, 0},
    Formula{"aten::bmm", &product_0_1, 0},
    Formula{"aten::addmm", &product_1_2, 1},
    Formula{"aten::baddbmm", &product_1_2, 1},
    Formula{"aten::convolution", &convolution_forward, 0},
    Formula{"aten::convolution_backward", &convolution_backward, 0},
    Formula{"aten::_scaled_dot_product_flash_attention_for_cpu", &attention_forward, 0},
    Formula{"aten::_scaled_dot_product_flash_attention_for_cpu_backward", &attention_backward, 0},
    Formula{"aten::_scaled_dot_product_flash_attention", &attention_forward, 0},
    Formula{"aten::_scaled_dot_product_flash_attention_backward", &attention_backward, 0},
    Formula{"aten::_scaled_dot_product_efficient_attention", &attention_forward, 0},
    Formula{"aten::_scaled_dot_product_efficient_attention_backward", &attention_backward, 0},
    Formula{"aten::_scaled_dot_product_cudnn_attention", &attention_forward, 0},
    Formula{"aten::_scaled_dot_product_cudnn_attention_backward", &attention_backward, 0},
};

std::atomic<std::int64_t> all_flops{0};
std::atomic<std::int64_t> low_precision_flops{0};
thread_local bool counting =
    false;  // inside an operator that counted: its parts do not count again

/// An operator on its way.
struct Counted : at::ObserverContext {
  std::int64_t flops = 0;
  bool is_low_precision = false;
  int exceptions = std::uncaught_exceptions();
};

std::unique_ptr<at::ObserverContext> operator_starts(const at::RecordFunction& function) {
  if (counting) return nullptr;
  const std::string_view name = function.name();
  for (const Formula& formula : kFormulas) {
    if (formula.name != name) continue;
    const Inputs inputs = function.inputs();
    const at::ScalarType dtype = inputs[formula.operand].toTensor().scalar_type();
    auto counted = std::make_unique<Counted>();
    counted->flops = formula.flops(inputs);
    counted->is_low_precision = dtype == at::kHalf || dtype == at::kBFloat16;
    counting = true;
    return counted;
  }
  return nullptr;
}

/// A block that runs again stops where the last tensor is saved: at the beginning of a product,
/// which is left by an exception before it computes.
void operator_ends(const at::RecordFunction&, at::ObserverContext* context) {
  if (context == nullptr) return;
  counting = false;
  const auto& counted = static_cast<const Counted&>(*context);
  if (std::uncaught_exceptions() > counted.exceptions) return;
  add(all_flops, counted.flops);
  if (counted.is_low_precision) add(low_precision_flops, counted.flops);
}

constexpr std::int64_t kSmallestVocabulary = 30000;

Batch one_sample(InputKind kind, const InputShape& shape) {
  Batch batch;
  batch.inputs = kind == InputKind::image
                     ? at::randn({1, 3, shape.image_size, shape.image_size})
                     : at::randint(kSmallestVocabulary, {1, shape.sequence_length}, at::kLong);
  batch.labels = at::zeros({1}, at::kLong);
  return batch;
}

}  // namespace

FlopCounter::FlopCounter() {
  all_flops = 0;
  low_precision_flops = 0;
  callback_ = at::addGlobalCallback(at::RecordFunctionCallback(&operator_starts, &operator_ends)
                                        .needsInputs(true)
                                        .scopes({at::RecordScope::FUNCTION}));
}

FlopCounter::~FlopCounter() { at::removeCallback(callback_); }

Flops FlopCounter::so_far() const {
  if (all_flops == kTooMany) {
    throw std::overflow_error("a step takes more floating-point operations than an integer holds");
  }
  return {.all = all_flops.load(), .low_precision = low_precision_flops.load()};
}

nlohmann::ordered_json inspect_with_flops(const ModelOptions& options, const InputShape& shape) {
  const ModelEntry& entry = find_model(options.name);
  const auto model = entry.make(options, shape, ParameterFactory(at::kCPU, at::kFloat));
  nlohmann::ordered_json result = inspect(*model);
  model->set_training(false);  // one sample may be too few for the statistics of a batch
  const FlopCounter counter;
  const at::Tensor loss = model->loss(one_sample(entry.input, shape));
  result["forward_flops"] = counter.so_far().all;
  torch::autograd::backward({loss}, {});
  result["step_flops"] = counter.so_far().all;
  return result;
}

}  // namespace headroom
