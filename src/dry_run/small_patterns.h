// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// How the names of PyTorch's elementwise kernels tell what they compute.
namespace headroom::dry_run {

/// What a functor holds; a lambda that holds nothing may still have nvcc's pointer.
enum class Holds {
  nothing,
  flag,
  two_flags,
  which,
  which_and_flag,
  which_and_number,
  which_and_two_numbers,
  number,
  two_numbers,
  pointer
};

/// How a mangled name tells it: what begins, and what follows somewhere, with '?' for the type. Of
/// a lambda, its name's begin and its parameters.
struct Pattern {
  std::string_view begin;
  std::string_view end;
  std::string_view types;  // T: the one computed in, b: bool; the first is the result's
  Holds holds;
};

template <class T>
struct Known {
  Pattern pattern;
  T (*of)(const T* in, const void* functor);
};

}  // namespace headroom::dry_run
