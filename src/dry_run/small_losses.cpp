// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_losses.h"

#include <array>
#include <optional>
#include <string_view>

#include "src/dry_run/small_operands.h"

namespace headroom::dry_run {
namespace {

/// The type of its result; nothing: it is no loss, or of a type that is not followed.
std::optional<c10::ScalarType> type_of_loss(std::string_view name) {
  constexpr std::array<std::string_view, 4> kLosses{
      "nll_loss_forward_reduce_cuda_kernel_1dI", "nll_loss_forward_reduce_cuda_kernel_2dI",
      "nll_loss2d_forward_kernelI", "nll_loss2d_forward_size_average_kernelI"};
  for (const std::string_view loss : kLosses) {
    if (const auto type = type_behind(name, loss)) return type;
  }
  return std::nullopt;
}

}  // namespace

bool is_loss(const char* name) { return type_of_loss(name).has_value(); }

/// (loss, weight of all, ...).
bool run_loss(const char* name, void** arguments, KnownBytes& known, Owns owns) {
  const c10::ScalarType type = *type_of_loss(name);
  if (!owns(pointer(arguments, 0)) || !owns(pointer(arguments, 1))) return false;
  forget_one(known, pointer(arguments, 0), type);
  known.forget(pointer(arguments, 1), bytes_of_type(type));
  return true;
}

}  // namespace headroom::dry_run
