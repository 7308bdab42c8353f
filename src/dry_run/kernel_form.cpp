// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/kernel_form.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

namespace headroom::dry_run {
namespace {

using Kind = KernelForm::Kind;

std::string demangled(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  return text ? text.get() : mangled;
}

/// The parts of a list, up to the bracket that ends it.
std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '<' || c == '(' || c == '{') ++depth;
    const bool ends = (c == '>' || c == ')' || c == '}') && depth-- == 0;
    if (!ends && !(c == ',' && depth == 0)) continue;
    std::string_view part = list.substr(begin, i - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    if (ends) break;
    begin = i + 1;
  }
  return parts;
}

/// The arguments of a template; none: the name has no such template.
std::vector<std::string_view> arguments_of(std::string_view name, std::string_view with_template) {
  const std::size_t found = name.find(with_template);
  if (found == std::string_view::npos) return {};
  return parts_of(name.substr(found + with_template.size()));
}

/// The types of the function's parameters, which are the last in parentheses.
std::vector<std::string_view> parameters_of(std::string_view name) {
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return parts_of(name.substr(i + 1));
  }
  return {};
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

struct NamedType {
  std::string_view name;
  int width;
  Precision precision;
};
constexpr std::array kTypes{
    NamedType{"BFloat16", 2, Precision::bfloat16}, NamedType{"bfloat16", 2, Precision::bfloat16},
    NamedType{"_bf16_", 2, Precision::bfloat16},   NamedType{"Half", 2, Precision::float16},
    NamedType{"half", 2, Precision::float16},      NamedType{"_f16_", 2, Precision::float16},
    NamedType{"double", 8, Precision::float64},    NamedType{"float", 4, Precision::float32},
    NamedType{"_f32_", 4, Precision::float32},     NamedType{"long", 8, Precision::float32},
    NamedType{"int", 4, Precision::float32},       NamedType{"bool", 1, Precision::float32},
};

/// The type that comes first behind the place.
const NamedType* first_type(std::string_view name, std::size_t behind) {
  const NamedType* first = nullptr;
  std::size_t place = std::string_view::npos;
  for (const NamedType& type : kTypes) {
    const std::size_t found = name.find(type.name, behind);
    if (found >= place) continue;
    place = found;
    first = &type;
  }
  return first;
}

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

/// How many tensors a functor reads and writes, by its name.
int tensors_of_functor(std::string_view name) {
  if (has(name, "FillFunctor")) return 1;
  for (const std::string_view of_one :
       {"copy_kernel", "AUnaryFunctor", "BUnaryFunctor", "FunctorOnSelf"}) {
    if (has(name, of_one)) return 2;
  }
  const std::size_t lambda = name.rfind("{lambda(", name.find("::{lambda(int)#1}>"));
  if (lambda == std::string_view::npos) return 3;
  const auto inputs = parts_of(name.substr(lambda + std::string_view("{lambda(").size())).size();
  return inputs == 0 ? 3 : static_cast<int>(inputs) + 1;
}

KernelForm elementwise(std::string_view name, bool has_pointers) {
  KernelForm form{.kind = Kind::elementwise, .has_pointers = has_pointers};
  if (has(name, "vectorized_elementwise_kernel<")) form.access = Access::vectors;
  if (has(name, "::elementwise_kernel<")) {
    // Threads take 2 numbers, and 4 where the functor's have 2 bytes. What is copied by this kernel
    // is not in one order on both sides.
    const bool is_copy = has(name, "direct_copy_kernel");
    const bool is_narrow = !has(name, "::elementwise_kernel<128, 2,");
    form.access = is_narrow ? is_copy ? Access::narrow_scattered_numbers : Access::narrow_numbers
                  : is_copy ? Access::scattered_numbers
                            : Access::numbers;
  }
  const auto array = arguments_of(name, "rray<char*, ");
  form.tensors = array.empty() ? tensors_of_functor(name) : static_cast<int>(number(array.front()));
  return form;
}

/// Functors of PyTorch's are <type, lists, of them read, ...>; those of fused optimizers read all
/// lists, and write all but the gradients.
KernelForm chunks(std::string_view name) {
  KernelForm form{.kind = Kind::chunks, .access = Access::vectors};
  const auto metadata = arguments_of(name, "Metadata<");
  const int lists = metadata.empty() ? 1 : static_cast<int>(number(metadata.back()));
  form.tensors = has(name, "Fused") ? 2 * lists - 1 : lists + 1;
  const auto functor = arguments_of(name, "Functor<");
  if (functor.size() >= 3 && number(functor[2]) > 0) {
    form.tensors = static_cast<int>(number(functor[2])) + 1;
  }
  return form;
}

/// <traits<width of a head, queries, keys of a block, ...>, dropout, causal, ...>
KernelForm flash(std::string_view name, std::string_view kernel, Kind kind) {
  KernelForm form{.kind = kind};
  const auto arguments = arguments_of(name, kernel);
  const auto traits = arguments_of(name, "_kernel_traits<");
  if (arguments.size() < 3 || traits.size() < 3) return {};
  form.head = number(traits[0]);
  form.rows = number(traits[kind == Kind::flash_forward ? 1 : 2]);
  form.is_causal = arguments[2] == "true";
  return form;
}

/// fmha_cutlassF_bf16_aligned_64x128_rf_sm80: blocks of 64 queries, heads of up to 128; backward,
/// fmha_cutlassB_bf16_aligned_64x64_k96_sm80: heads of up to 96. Heads of any width have sums in
/// memory, _gmem_, and backward _k65536_.
KernelForm memory_efficient(std::string_view name, Kind kind) {
  KernelForm form{.kind = kind};
  const std::size_t block = name.find("aligned_") + std::string_view("aligned_").size();
  form.rows = number(name.substr(block));
  if (has(name, "_gmem_") || has(name, "_k65536_")) return form;
  const std::size_t head =
      kind == Kind::efficient_forward ? name.find('x', block) + 1 : name.find("_k", block) + 2;
  form.head = number(name.substr(head));
  return form;
}

/// A pointer, or one of PyTorch's structures that begin with it and go on with sizes.
bool has_pointer(std::string_view parameter) {
  if (parameter.ends_with('*')) return !parameter.ends_with("**");
  return has(parameter, "PackedTensorAccessor<") || has(parameter, "TensorInfo<");
}

/// Of these a block goes through a row or a channel, of any length.
bool goes_through_all(std::string_view name) {
  constexpr std::array kParts{"oftMax",    "softmax",    "layer_norm",
                              "GammaBeta", "batch_norm", "CatArrayBatchedCopy"};
  const auto is_in_name = [&](const char* part) { return has(name, part); };
  return std::any_of(kParts.begin(), kParts.end(), is_in_name);
}

/// Which arguments hold rows that a block goes through again, once for each time (ATen/native/cuda/
/// SoftMax.cu). Its kernels for shorter rows keep them.
std::vector<std::size_t> gone_through_again(std::string_view name) {
  if (has(name, "cunn_SoftMaxForward<")) return {1, 1};  // the largest, the sum, what is written
  if (has(name, "cunn_SoftMaxBackward<")) return {2};
  return {};
}

/// Of channels that are not last in memory. Backward goes over two tensors twice, and writes one;
/// statistics take as long as two passes do.
KernelForm batch_norm(std::string_view name) {
  return {.kind = Kind::batch_norm, .tensors = has(name, "batch_norm_backward_kernel<") ? 5 : 2};
}

/// Of two dimensions.
KernelForm depthwise(std::string_view name) {
  if (has(name, "2d_forward_kernel")) return {.kind = Kind::depthwise_forward};
  if (has(name, "2d_backward_kernel<")) return {.kind = Kind::depthwise_of_input};
  if (has(name, "2d_grad_weight_kernel<")) return {.kind = Kind::depthwise_of_filter};
  return {};
}

/// Or of what it builds in.
bool is_of_pytorch(std::string_view name) {
  return has(name, "at::") || has(name, "at_cuda_detail::") || has(name, "thrust::");
}

KernelForm with_pointers(std::string_view name) {
  KernelForm form;
  // Its threads read windows, so that they move more than there is: as if nothing were known.
  if (has(name, "conv_depthwise3d_")) return form;
  const auto parameters = parameters_of(name);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!has_pointer(parameters[i])) continue;
    form.pointers.push_back(i);
    const bool is_written = parameters[i].ends_with('*') && !parameters[i].ends_with("const*");
    if (is_written && !is_of_pytorch(name)) form.written.push_back(i);
  }
  // Its inputs stand in a structure, and are as large as its output in all.
  if (has(name, "CatArrayBatchedCopy")) form.pointers = {0, 0};
  if (form.pointers.empty()) return form;
  form.kind = goes_through_all(name) ? Kind::whole : Kind::pointers;
  if (has(name, "vectorized_gather_kernel") || has(name, "indexSelect")) form.kind = Kind::gather;
  form.again = gone_through_again(name);
  const bool is_by_vectors = has(name, "cunn_SoftMax") || has(name, "vectorized_gather_kernel");
  if (is_by_vectors) form.access = Access::vectors;
  return form;
}

/// Of numbers that are kept by chance, each thread takes several at once, or one.
KernelForm dropout(std::string_view name) {
  const Access access = has(name, "_vec<") ? Access::vectors : Access::narrow_numbers;
  return {.kind = Kind::dropout, .access = access, .pointers = {0, 1, 2}};
}

/// Where a name begins to tell the types of what is computed.
std::size_t begin_of_types(std::string_view name, Kind kind) {
  const bool is_template = kind != Kind::efficient_forward && kind != Kind::efficient_backward;
  const std::size_t found = name.find(kind == Kind::chunks ? "Functor<"
                                      : is_template        ? "<"
                                                           : "fmha_");
  return std::min(found, name.size());
}

KernelForm form_of(std::string_view name) {
  if (has(name, "vectorized_elementwise_kernel<") || has(name, "unrolled_elementwise_kernel<")) {
    return elementwise(name, /*has_pointers=*/true);
  }
  if (has(name, "::elementwise_kernel<")) return elementwise(name, /*has_pointers=*/false);
  if (has(name, "multi_tensor_apply_kernel<")) return chunks(name);
  if (has(name, "::reduce_kernel<")) return {.kind = Kind::reduction};
  if (has(name, "::flash_fwd_kernel<")) {
    return flash(name, "flash_fwd_kernel<", Kind::flash_forward);
  }
  constexpr std::string_view kFlashBackward = "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<";
  if (has(name, kFlashBackward)) return flash(name, kFlashBackward, Kind::flash_backward);
  if (has(name, "fmha_cutlassF_")) return memory_efficient(name, Kind::efficient_forward);
  if (has(name, "fmha_cutlassB_")) return memory_efficient(name, Kind::efficient_backward);
  if (has(name, "::batch_norm_backward_kernel<") ||
      has(name, "::batch_norm_collect_statistics_kernel<")) {
    return batch_norm(name);
  }
  if (has(name, "::conv_depthwise2d_")) return depthwise(name);
  if (has(name, "fused_dropout_kernel")) return dropout(name);
  if (has(name, "::distribution_elementwise_grid_stride_kernel<")) {
    return {.kind = Kind::random};
  }
  return with_pointers(name);
}

}  // namespace

KernelForm kernel_form(const char* mangled) {
  const std::string name = demangled(mangled);
  KernelForm form = form_of(name);
  if (const NamedType* type = first_type(name, begin_of_types(name, form.kind))) {
    form.width = type->width;
    form.precision = type->precision;
  }
  return form;
}

}  // namespace headroom::dry_run
