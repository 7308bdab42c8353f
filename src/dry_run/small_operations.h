// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <string_view>

#include "src/dry_run/small_operands.h"

// What the functors of elementwise kernels compute.
namespace headroom::dry_run {

/// One in a type that it computes in: float, double, int64 or int32.
struct Operation {
  Signature signature;
  /// Of one element: `inputs` and `result` are values of that type, whatever the signature says,
  /// bools among them.
  void (*compute)(const void* inputs, const void* functor, void* result);
  c10::ScalarType computes_in;
  /// It gives one of its inputs by another, or joins bits: what it does with no bits and with all
  /// of them says whether an input matters.
  bool is_of_bits = false;
};

/// By a kernel's mangled name; null: it is none that is followed.
const Operation* find_operation(std::string_view name);

}  // namespace headroom::dry_run
