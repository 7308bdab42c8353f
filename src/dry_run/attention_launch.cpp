// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/attention_launch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace headroom::dry_run {
namespace {

using Kind = KernelForm::Kind;

bool is_flash(const KernelForm& form) {
  return form.kind == Kind::flash_forward || form.kind == Kind::flash_backward;
}

bool is_forward(const KernelForm& form) {
  return form.kind == Kind::flash_forward || form.kind == Kind::efficient_forward;
}

/// Lengths and heads that a launch of memory-efficient attention gets.
struct Lengths {
  std::int64_t head;
  std::int64_t queries;
  std::int64_t keys;
  bool is_causal;
};

/// They stand among the kernel's parameters as {head_dim, head_dim_value, num_queries, num_keys,
/// num_keys_absolute or, backward, num_heads, custom_mask_type, ...}, behind pointers whose number
/// is PyTorch's version's (ATen/native/transformers/cuda/mem_eff_attention/kernel_forward.h and
/// kernel_backward.h). Where they begin is told by what the grid says of them, too. Nothing: they
/// stand otherwise.
std::optional<Lengths> lengths_of(const KernelForm& form, const KernelLaunch& launch) {
  constexpr std::size_t kFirst = 16, kLast = 40;  // where they may begin, in numbers of 4 bytes
  constexpr std::size_t kNumbers = 11;
  constexpr std::size_t kStrideOfResult = 10;  // forward
  constexpr std::int64_t kRowsOfBackward = 32;
  // What a block is filled up with is computed as well.
  const std::int64_t rows = is_forward(form) ? form.rows : kRowsOfBackward;
  const auto filled = [&](std::int64_t length) { return (length + rows - 1) / rows * rows; };
  std::array<std::int32_t, kLast + kNumbers> all{};
  std::memcpy(all.data(), launch.arguments[0], sizeof(all));
  for (std::size_t at = kFirst; at < kLast; ++at) {
    const std::int32_t* each = &all[at];
    const std::int64_t heads = launch.grid.y;
    const bool is_there = is_forward(form)
                              ? (each[2] + form.rows - 1) / form.rows == launch.grid.x &&
                                    each[kStrideOfResult] == each[1] * heads
                              : each[4] == heads;
    if (is_there && each[0] > 0 && each[1] > 0 && each[2] > 0 && each[3] > 0) {
      const int mask = each[5] & 0xff;  // 1: from the first query and key on, 2: from the last
      const std::int64_t head = form.head > 0 ? form.head : std::max(each[0], each[1]);
      return Lengths{head, filled(each[2]), filled(each[3]), mask != 0};
    }
  }
  return std::nullopt;
}

/// Pairs of a query and a key of one head, of whole blocks: of a causal mask the half, and half a
/// block more.
std::int64_t pairs_of(std::int64_t queries, std::int64_t keys, bool is_causal, std::int64_t rows) {
  if (!is_causal) return queries * keys;
  return queries * (keys + std::min(rows, keys)) / 2;
}

std::int64_t flops_of(const KernelForm& form, const KernelLaunch& launch) {
  const std::int64_t filled = form.rows * launch.grid.x;
  Lengths lengths{form.head, filled, filled, form.is_causal};
  if (!is_flash(form)) lengths = lengths_of(form, launch).value_or(lengths);
  const std::int64_t heads = std::int64_t{1} * launch.grid.y * launch.grid.z;
  // Forward two products, backward five.
  return (is_forward(form) ? 4 : 10) * heads * lengths.head *
         pairs_of(lengths.queries, lengths.keys, lengths.is_causal, form.rows);
}

/// What products of this kind achieve.
double achieved_flops(const Gpu& gpu, Precision precision) {
  const bool is_plain = precision == Precision::float32;
  return (is_plain ? gpu.products.plain_share : gpu.products.share) * peak_flops(gpu, precision);
}

/// So many operations a cycle and multiprocessor, of the rate of products.
double share_of(const Gpu& gpu, Precision precision, double operations) {
  return operations * gpu.multiprocessors * clock_rate(gpu) / achieved_flops(gpu, precision);
}

/// FlashAttention 2, of the rate of products. It was written for Ampere: tensor cores that multiply
/// for groups of warps do so many operations a cycle for it, whatever they do for products.
double flash_share(const Gpu& gpu, const KernelForm& form) {
  struct Operations {
    double of_narrow_heads, of_wide_heads;  // up to 64, and above
  };
  constexpr Operations kForward{1180, 1430};
  constexpr Operations kBackward{1020, 1220};
  if (waits_for_tensor_cores(gpu)) return is_forward(form) ? 1 : 0.9;
  if (!multiplies_for_groups_of_warps(gpu)) return is_forward(form) ? 0.7 : 0.6;
  const Operations& all = is_forward(form) ? kForward : kBackward;
  return share_of(gpu, form.precision, form.head <= 64 ? all.of_narrow_heads : all.of_wide_heads);
}

/// PyTorch's memory-efficient attention, likewise. Of Ampere, too: from there on float32 is three
/// products of TF32 each (gemm_kernel_utils.h, OpMultiplyAddFastF32).
double efficient_share(const Gpu& gpu, const KernelForm& form) {
  constexpr int kAmpere = 8;
  if (form.precision == Precision::float32) {
    if (gpu.capability.major < kAmpere) return is_forward(form) ? 0.5 : 0.6;
    const double most = achieved_flops(gpu, Precision::tensorfloat32) / 3;
    return std::min(share_of(gpu, form.precision, is_forward(form) ? 96 : 115),
                    most / achieved_flops(gpu, form.precision));
  }
  if (multiplies_for_groups_of_warps(gpu)) {
    return share_of(gpu, form.precision, is_forward(form) ? 880 : 690);
  }
  return is_forward(form) ? 0.43 : 0.34;
}

}  // namespace

Work work_of_attention(const Gpu& gpu, const KernelForm& form, const KernelLaunch& launch) {
  const double share = is_flash(form) ? flash_share(gpu, form) : efficient_share(gpu, form);
  Work work = attention_work(gpu, flops_of(form, launch), form.precision, share);
  work.product_flops = 0;  // which counts what libraries multiply
  return work;
}

}  // namespace headroom::dry_run
