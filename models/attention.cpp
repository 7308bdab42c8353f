// SPDX-License-Identifier: Apache-2.0
#include "models/attention.h"

#include <ATen/Context.h>
#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#ifdef HEADROOM_CUDA
#include <ATen/cuda/CUDAContext.h>
#endif

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "src/core/enum_names.h"
#include "src/core/error.h"

namespace headroom {
namespace {

/// Leaves PyTorch the one kernel that was asked for, so that it has nothing to fall back to.
class OneKernel {
 public:
  explicit OneKernel(Attention kind) {
    set({.flash = kind == Attention::flash,
         .efficient = kind == Attention::efficient,
         .cudnn = kind == Attention::cudnn,
         .math = kind == Attention::math,
         .overrideable = false});
  }
  ~OneKernel() { set(before_); }
  OneKernel(const OneKernel&) = delete;
  OneKernel& operator=(const OneKernel&) = delete;

 private:
  struct Flags {
    bool flash, efficient, cudnn, math, overrideable;
  };

  static Flags read() {
    const at::Context& context = at::globalContext();
    return {.flash = context.userEnabledFlashSDP(),
            .efficient = context.userEnabledMemEfficientSDP(),
            .cudnn = context.userEnabledCuDNNSDP(),
            .math = context.userEnabledMathSDP(),
            .overrideable = context.userEnabledOverrideableSDP()};
  }

  static void set(const Flags& flags) {
    at::Context& context = at::globalContext();
    context.setSDPUseFlash(flags.flash);
    context.setSDPUseMemEfficient(flags.efficient);
    context.setSDPUseCuDNN(flags.cudnn);
    context.setSDPUseMath(flags.math);
    context.setSDPUseOverrideable(flags.overrideable);
  }

  Flags before_ = read();
};

/// The lowest finite number of a dtype: added to a score it leaves no weight after softmax, and a
/// row in which no key counts stays free of NaN.
double lowest(at::ScalarType dtype) {
  double value = 0.0;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, dtype, "lowest", [&] {
    value = static_cast<double>(std::numeric_limits<scalar_t>::lowest());
  });
  return value;
}

at::Tensor scaled_scores(const at::Tensor& q, const at::Tensor& k) {  // (B, H, T, T)
  return at::matmul(q, k.transpose(2, 3)) * (1.0 / std::sqrt(static_cast<double>(q.size(-1))));
}

/// What is added to scores: 0 where a key counts, else the lowest number.
at::Tensor additive(const at::Tensor& mask, at::ScalarType dtype) {
  const at::Tensor zeros = at::zeros(mask.sizes(), mask.options().dtype(dtype));
  return zeros.masked_fill(~mask, lowest(dtype));
}

at::Tensor softmax(const at::Tensor& scores, SoftmaxIn softmax_in, at::ScalarType wanted) {
  const bool widens = softmax_in == SoftmaxIn::float32 && scores.element_size() < 4;
  return widens ? at::softmax(scores, -1, at::kFloat).to(wanted) : at::softmax(scores, -1);
}

/// As transformers writes it out, each operation by itself.
at::Tensor attend_eager(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                        const at::Tensor& mask, double dropout, SoftmaxIn softmax_in) {
  at::Tensor scores = scaled_scores(q, k);  // (B, H, T, T)
  if (mask.defined()) scores = scores + additive(mask, scores.scalar_type());
  at::Tensor weights = softmax(scores, softmax_in, q.scalar_type());  // (B, H, T, T)
  weights = at::dropout(weights, dropout, /*train=*/true);            // (B, H, T, T)
  return at::matmul(weights, v);                                      // (B, H, T, D)
}

/// softmax over the last dimension that keeps its input beside its output, and reads nothing of it
/// but the dtype.
struct SoftmaxKeepingInput : torch::autograd::Function<SoftmaxKeepingInput> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input) {
    const at::Tensor output = at::softmax(input, -1);
    context->save_for_backward({input, output});
    return output;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const torch::autograd::variable_list saved = context->get_saved_variables();
    return {at::_softmax_backward_data(gradients[0], saved[1], -1, saved[0].scalar_type())};
  }
};

at::Tensor attend_eager_torch_1_10(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                   const at::Tensor& mask, double dropout) {
  at::Tensor scores = scaled_scores(q, k);  // (B, H, T, T)
  const bool weights_are_float32 = at::autocast::is_autocast_enabled(q.device().type());
  const at::Tensor counts =
      mask.defined() ? mask : at::ones({1, 1, 1, k.size(2)}, k.options().dtype(at::kBool));
  scores = scores + additive(counts, weights_are_float32 ? at::kFloat : scores.scalar_type());
  at::Tensor weights = SoftmaxKeepingInput::apply(scores);  // (B, H, T, T)
  weights = at::dropout(weights, dropout, /*train=*/true);  // (B, H, T, T)
  return at::matmul(weights, v);                            // (B, H, T, D)
}

/// Whether products are computed in 16 bits.
bool is_narrow(const at::Tensor& q) {
  return at::isReducedFloatingType(q.scalar_type()) ||
         at::autocast::is_autocast_enabled(q.device().type());
}

bool gpu_has_flash() {
#ifdef HEADROOM_CUDA
  return at::cuda::getCurrentDeviceProperties()->major >= 8;
#else
  return false;
#endif
}

Attention by_rule(const at::Tensor& q, const at::Tensor& mask) {
  if (q.is_cpu()) return Attention::flash;
  return is_narrow(q) && !mask.defined() && gpu_has_flash() ? Attention::flash
                                                            : Attention::efficient;
}

std::string refusal(Attention kind, const at::Tensor& q, const at::Tensor& mask, double dropout) {
  std::string text = "attention '" + std::string(enum_name(kind)) +
                     "': PyTorch has no such kernel for " + c10::toString(q.scalar_type()) +
                     " on " + q.device().str();
  if (mask.defined()) text += " with a padding mask";
  if (dropout > 0.0) text += " with dropout of the attention weights";
  return text + " (heads of width " + std::to_string(q.size(-1)) + ")";
}

bool says_no_kernel(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.find("No available kernel") != std::string::npos ||
         text.find("No viable backend") != std::string::npos;
}

bool is_one_kernel(Attention kind) {
  return kind != Attention::eager && kind != Attention::eager_torch_1_10;
}

at::Tensor attend_by_one_kernel(Attention kind, const at::Tensor& q, const at::Tensor& k,
                                const at::Tensor& v, const at::Tensor& mask, double dropout,
                                bool is_causal) {
  const OneKernel one_kernel(kind);
  try {
    return at::scaled_dot_product_attention(
        q, k, v, mask.defined() ? std::optional(mask) : std::nullopt, dropout, is_causal,
        /*scale=*/std::nullopt, /*enable_gqa=*/k.size(1) != q.size(1));
  } catch (const c10::Error& error) {
    if (says_no_kernel(error)) throw Unsupported(refusal(kind, q, mask, dropout));
    throw;
  }
}

/// (B, G, T, D) -> (B, heads, T, D), each of G as often as it is read; x itself where that is once.
at::Tensor repeat_heads(const at::Tensor& x, std::int64_t heads) {
  const std::int64_t times = heads / x.size(1);
  if (times == 1) return x;
  return x.unsqueeze(2)
      .expand({x.size(0), x.size(1), times, x.size(2), x.size(3)})
      .reshape({x.size(0), heads, x.size(2), x.size(3)});
}

/// By a kernel that is chosen, and no automatic one.
at::Tensor attend_by(Attention kind, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& mask, double dropout, bool is_causal, SoftmaxIn softmax_in) {
  if (is_one_kernel(kind) && kind != Attention::efficient) {
    return attend_by_one_kernel(kind, q, k, v, mask, dropout, is_causal);
  }
  const at::Tensor all_k = repeat_heads(k, q.size(1));
  const at::Tensor all_v = repeat_heads(v, q.size(1));
  if (kind == Attention::efficient) {
    return attend_by_one_kernel(kind, q, all_k, all_v, mask, dropout, is_causal);
  }
  if (kind == Attention::eager) return attend_eager(q, all_k, all_v, mask, dropout, softmax_in);
  return attend_eager_torch_1_10(q, all_k, all_v, mask, dropout);
}

/// Where a query and a key that is its own or comes before it meet, and the mask lets the key
/// count: (1 or B, 1, T, T).
at::Tensor past_mask(const at::Tensor& q, const at::Tensor& mask) {
  const at::Tensor past =
      at::ones({1, 1, q.size(2), q.size(2)}, q.options().dtype(at::kBool)).tril();
  return mask.defined() ? past & mask : past;
}

}  // namespace

at::Tensor attend(Attention kind, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const at::Tensor& mask, double dropout) {
  if (kind == Attention::automatic) kind = by_rule(q, mask);
  return attend_by(kind, q, k, v, mask, dropout, /*is_causal=*/false, SoftmaxIn::scores);
}

at::Tensor attend_to_past(Attention kind, const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v, const at::Tensor& mask, double dropout,
                          SoftmaxIn softmax_in) {
  if (kind == Attention::automatic) kind = by_rule(q, mask);
  // PyTorch's kernels know the order of tokens themselves, but not beside another mask.
  const bool is_causal = is_one_kernel(kind) && !mask.defined();
  return attend_by(kind, q, k, v, is_causal ? mask : past_mask(q, mask), dropout, is_causal,
                   softmax_in);
}

at::Tensor key_mask(const at::Tensor& attention_mask) {
  if (!attention_mask.defined()) return {};
  return attention_mask.to(at::kBool).unsqueeze(1).unsqueeze(1);  // (B, 1, 1, T)
}

at::Tensor split_heads(const at::Tensor& x, std::int64_t head_width) {
  return x.view({x.size(0), x.size(1), -1, head_width}).transpose(1, 2);
}

at::Tensor merge_heads(const at::Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

}  // namespace headroom
