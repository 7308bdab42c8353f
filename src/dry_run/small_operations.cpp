// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_operations.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/dry_run/small_launch.h"

namespace headroom::dry_run {
namespace {

// What functors compute, T: the type that they compute in. They hold numbers of that type, behind
// something empty or a number that says which operation, each where C++ puts it.

template <class T>
T held(const void* functor, std::size_t index = 0) {
  return at<T>(functor, index * sizeof(T));
}

/// As the device does: whole numbers wrap around, a product and its sum are rounded once.
template <class T>
T product_and_sum(T one, T other, T sum) {
  if constexpr (std::floating_point<T>) {
    return std::fma(one, other, sum);
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(one) * static_cast<std::uint64_t>(other) +
                          static_cast<std::uint64_t>(sum));
  }
}

template <class T>
T product(T one, T other) {
  if constexpr (std::floating_point<T>) return one * other;
  return product_and_sum(one, other, T{0});
}

template <class T>
T multiply(const T* in, const void*) {
  return product(in[0], in[1]);
}
template <class T>
T multiply_by(const T* in, const void* functor) {
  return product(in[0], held<T>(functor, 1));
}
template <class T>
T divide(const T* in, const void*) {
  return in[0] / in[1];
}
/// {alpha}; {other, alpha}; {self, alpha}.
template <class T>
T add_scaled(const T* in, const void* functor) {
  return product_and_sum(held<T>(functor), in[1], in[0]);
}
template <class T>
T add_held(const T* in, const void* functor) {
  return product_and_sum(held<T>(functor, 1), held<T>(functor), in[0]);
}
template <class T>
T add_to_held(const T* in, const void* functor) {
  return product_and_sum(held<T>(functor, 1), in[0], held<T>(functor));
}
template <class T>
T negative(const T* in, const void*) {
  return product(in[0], T{-1});
}
template <class T>
T absolute(const T* in, const void*) {
  if constexpr (std::floating_point<T>) return std::fabs(in[0]);
  return in[0] < 0 ? product(in[0], T{-1}) : in[0];
}
template <class T>
T reciprocal(const T* in, const void*) {
  return T{1} / in[0];
}
template <class T>
T largest(const T* in, const void*) {
  if (in[0] != in[0]) return in[0];
  return in[1] != in[1] ? in[1] : std::max(in[0], in[1]);
}
template <class T>
T smallest(const T* in, const void*) {
  if (in[0] != in[0]) return in[0];
  return in[1] != in[1] ? in[1] : std::min(in[0], in[1]);
}
template <class T>
T same(const T* in, const void*) {
  return in[0];
}
template <class T>
T both_hold(const T* in, const void*) {
  return in[0] != T{0} && in[1] != T{0} ? T{1} : T{0};
}
template <class T>
T one_holds(const T* in, const void*) {
  return in[0] != T{0} || in[1] != T{0} ? T{1} : T{0};
}
template <class T>
T is_zero(const T* in, const void*) {
  return in[0] == T{0} ? T{1} : T{0};
}
/// {value}.
template <class T>
T replaced(const T* in, const void* functor) {
  return in[1] != T{0} ? held<T>(functor) : in[0];
}
template <class T>
T either(const T* in, const void*) {
  return in[0] != T{0} ? in[1] : in[2];
}

/// A function of the C library, in double: rounded once to float.
template <class T, double (*function)(double)>
T rounded(const T* in, const void*) {
  return static_cast<T>(function(static_cast<double>(in[0])));
}

template <class T>
T power(T base, T exponent) {
  if constexpr (std::floating_point<T>) {
    return static_cast<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  } else {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
    T result = 1;
    for (; exponent > 0; exponent /= 2) {
      if (exponent % 2 == 1) result = product(result, base);
      base = product(base, base);
    }
    return result;
  }
}
template <class T>
T power_of_two(const T* in, const void*) {
  return power(in[0], in[1]);
}
template <class T>
T power_held(const T* in, const void* functor) {
  return power(in[0], held<T>(functor));
}
template <class T>
T square(const T* in, const void*) {
  return product(in[0], in[0]);
}
template <class T>
T cube(const T* in, const void*) {
  return product(product(in[0], in[0]), in[0]);
}

/// {which of >=, >, <=, <}.
template <class T>
T holds(int which, T one, T other) {
  const std::array results{one >= other, one > other, one <= other, one < other};
  return which >= 0 && which < 4 && results[static_cast<std::size_t>(which)] ? T{1} : T{0};
}
template <class T>
T compare(const T* in, const void* functor) {
  return holds(at<int>(functor), in[0], in[1]);
}
template <class T>
T compare_with_held(const T* in, const void* functor) {
  return holds(at<int>(functor), in[0], at<T>(functor, sizeof(T)));
}

/// {0: ==, 1: !=}.
template <class T>
T equals(const T* in, const void* functor) {
  return (in[0] == in[1]) == (at<int>(functor) == 0) ? T{1} : T{0};
}
template <class T>
T equals_held(const T* in, const void* functor) {
  const std::array both{in[0], held<T>(functor, 1)};
  return equals(both.data(), functor);
}

template <class T>
T divide_down(const T* in, const void*) {
  if (in[1] == 0) return 0;
  return static_cast<T>(in[0] / in[1] - (in[0] % in[1] != 0 && (in[0] < 0) != (in[1] < 0) ? 1 : 0));
}
template <class T>
T divide_to_zero(const T* in, const void*) {
  return in[1] == 0 ? 0 : in[0] / in[1];
}
template <class T>
T remainder(const T* in, const void* functor) {
  return in[1] == 0 ? 0 : static_cast<T>(in[0] - divide_down(in, functor) * in[1]);
}
/// The same with what stands in the functor on the right.
template <class T, T (*of_two)(const T*, const void*)>
T with_held(const T* in, const void* functor) {
  const std::array<T, 2> both{in[0], held<T>(functor, 1)};
  return of_two(both.data(), functor);
}

/// What a functor holds; of a power of two tensors, eight bytes that it does not need.
enum class Holds { nothing, which, number, two_numbers, eight_bytes };

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

template <class T>
constexpr std::array kOfAll{
    Known<T>{{"13BinaryFunctorI???", "10MulFunctorI?E", "TTT", Holds::nothing}, &multiply<T>},
    Known<T>{{"13AUnaryFunctorI???", "10MulFunctorI?E", "TT", Holds::two_numbers}, &multiply_by<T>},
    Known<T>{{"13BUnaryFunctorI???", "10MulFunctorI?E", "TT", Holds::two_numbers}, &multiply_by<T>},
    Known<T>{{"15CUDAFunctor_addI?E", "", "TTT", Holds::number}, &add_scaled<T>},
    Known<T>{{"21CUDAFunctorOnSelf_addI?E", "", "TT", Holds::two_numbers}, &add_held<T>},
    Known<T>{{"22CUDAFunctorOnOther_addI?E", "", "TT", Holds::two_numbers}, &add_to_held<T>},
    Known<T>{{"15neg_kernel_cuda", "EUl?E_", "TT", Holds::nothing}, &negative<T>},
    Known<T>{{"10AbsFunctorI?E", "", "TT", Holds::nothing}, &absolute<T>},
    Known<T>{{"19maximum_kernel_cuda", "EUl??E_", "TTT", Holds::nothing}, &largest<T>},
    Known<T>{{"19minimum_kernel_cuda", "EUl??E_", "TTT", Holds::nothing}, &smallest<T>},
    Known<T>{{"17where_kernel_impl", "EUlb??E_", "TbTT", Holds::nothing}, &either<T>},
    Known<T>{{"18masked_fill_kernel", "EUl?bE_", "TTb", Holds::number}, &replaced<T>},
    Known<T>{{"23direct_copy_kernel_cuda", "EUl?E_", "TT", Holds::nothing}, &same<T>},
    Known<T>{{"13BinaryFunctorI??b", "23logical_and_kernel_cuda", "bTT", Holds::nothing},
             &both_hold<T>},
    Known<T>{{"13BinaryFunctorI??b", "22logical_or_kernel_cuda", "bTT", Holds::nothing},
             &one_holds<T>},
    Known<T>{{"23logical_not_kernel_cuda", "EUl?E_", "bT", Holds::nothing}, &is_zero<T>},
    Known<T>{{"14CompareFunctorI?E", "", "bTT", Holds::which}, &compare<T>},
    Known<T>{{"21compare_scalar_kernelI?E", "EUl?E_", "bT", Holds::two_numbers},
             &compare_with_held<T>},
    Known<T>{{"13BinaryFunctorI??b", "16CompareEqFunctorI?E", "bTT", Holds::which}, &equals<T>},
    Known<T>{{"13AUnaryFunctorI??b", "16CompareEqFunctorI?E", "bT", Holds::two_numbers},
             &equals_held<T>},
    Known<T>{{"24pow_tensor_tensor_kernel", "EUl??E_", "TTT", Holds::eight_bytes},
             &power_of_two<T>},
    Known<T>{{"29pow_tensor_scalar_kernel_implI??E", "EUl?E_", "TT", Holds::nothing}, &square<T>},
    Known<T>{{"29pow_tensor_scalar_kernel_implI??E", "EUl?E0_", "TT", Holds::nothing}, &cube<T>},
    Known<T>{{"29pow_tensor_scalar_kernel_implI??E", "EUl?E2_", "TT", Holds::number},
             &power_held<T>},
};

template <std::floating_point T>
constexpr std::array kOfFloats{
    Known<T>{{"13BinaryFunctorI???", "10DivFunctorI?E", "TTT", Holds::nothing}, &divide<T>},
    Known<T>{{"22reciprocal_kernel_cuda", "EUl?E_", "TT", Holds::nothing}, &reciprocal<T>},
    Known<T>{{"15log_kernel_cuda", "EUl?E_", "TT", Holds::nothing}, &rounded<T, &std::log>},
    Known<T>{{"16log2_kernel_cuda", "EUl?E_", "TT", Holds::nothing}, &rounded<T, &std::log2>},
    Known<T>{{"17log10_kernel_cuda", "EUl?E_", "TT", Holds::nothing}, &rounded<T, &std::log10>},
    Known<T>{{"15exp_kernel_cuda", "EUl?E_", "TT", Holds::nothing}, &rounded<T, &std::exp>},
    Known<T>{{"16sqrt_kernel_cuda", "EUl?E_", "TT", Holds::nothing}, &rounded<T, &std::sqrt>},
    Known<T>{{"17round_kernel_cuda", "EUl?E_", "TT", Holds::nothing}, &rounded<T, &std::nearbyint>},
    Known<T>{{"17floor_kernel_cuda", "EUl?E_", "TT", Holds::nothing}, &rounded<T, &std::floor>},
    Known<T>{{"16ceil_kernel_cuda", "EUl?E_", "TT", Holds::nothing}, &rounded<T, &std::ceil>},
    Known<T>{{"17trunc_kernel_cuda", "EUl?E_", "TT", Holds::nothing}, &rounded<T, &std::trunc>},
};

template <std::integral T>
constexpr std::array kOfWholeNumbers{
    Known<T>{{"13BinaryFunctorI???", "21div_floor_kernel_cuda", "TTT", Holds::nothing},
             &divide_down<T>},
    Known<T>{{"13BUnaryFunctorI???", "21div_floor_kernel_cuda", "TT", Holds::two_numbers},
             &with_held<T, &divide_down<T>>},
    Known<T>{{"13BinaryFunctorI???", "21div_trunc_kernel_cuda", "TTT", Holds::nothing},
             &divide_to_zero<T>},
    Known<T>{{"13BUnaryFunctorI???", "21div_trunc_kernel_cuda", "TT", Holds::two_numbers},
             &with_held<T, &divide_to_zero<T>>},
    Known<T>{{"13BinaryFunctorI???", "21remainder_kernel_cuda", "TTT", Holds::nothing},
             &remainder<T>},
    Known<T>{{"13BUnaryFunctorI???", "21remainder_kernel_cuda", "TT", Holds::two_numbers},
             &with_held<T, &remainder<T>>},
};

/// Since PyTorch 2.15 of numbers of any type, as bits.
template <class T>
constexpr std::array kOfBits{
    Known<T>{{"17where_kernel_impl", "EUlb??E_", "TbTT", Holds::nothing}, &either<T>},
};

/// Computed as int64.
constexpr std::array kOfBools{
    Known<std::int64_t>{{"13BinaryFunctorIbbb", "10MulFunctorIbE", "bbb", Holds::nothing},
                        &both_hold<std::int64_t>},
    Known<std::int64_t>{{"13BinaryFunctorIbbb", "23logical_and_kernel_cuda", "bbb", Holds::nothing},
                        &both_hold<std::int64_t>},
    Known<std::int64_t>{{"13BinaryFunctorIbbb", "22logical_or_kernel_cuda", "bbb", Holds::nothing},
                        &one_holds<std::int64_t>},
    Known<std::int64_t>{{"23logical_not_kernel_cuda", "EUlbE_", "bb", Holds::nothing},
                        &is_zero<std::int64_t>},
    Known<std::int64_t>{{"23direct_copy_kernel_cuda", "EUlbE_", "bb", Holds::nothing},
                        &same<std::int64_t>},
    Known<std::int64_t>{{"17where_kernel_impl", "EUlbbbE_", "bbbb", Holds::nothing},
                        &either<std::int64_t>},
};

struct Named {
  std::string begin;
  std::string end;
  Operation operation;
};

std::string with_letter(std::string_view pattern, char letter) {
  std::string text(pattern);
  std::ranges::replace(text, '?', letter);
  return text;
}

template <class T, const auto& list, std::size_t index>
void compute(const void* inputs, const void* functor, void* result) {
  *static_cast<T*>(result) = list[index].of(static_cast<const T*>(inputs), functor);
}

template <class T, const auto& list, std::size_t index>
Named named(char letter, c10::ScalarType type) {
  const Pattern& pattern = list[index].pattern;
  Operation operation{.signature = {.types = {}, .functor_bytes = 0, .functor_alignment = 1},
                      .compute = &compute<T, list, index>,
                      .computes_in = type};
  for (const char each : pattern.types) {
    operation.signature.types.push_back(each == 'b' ? c10::ScalarType::Bool : type);
  }
  auto& [types, bytes, alignment] = operation.signature;
  switch (pattern.holds) {
    case Holds::nothing:  // C++ gives a class that is empty a byte
      bytes = pattern.begin.find("Functor") == std::string_view::npos ? 0 : 1;
      break;
    case Holds::which:
      bytes = alignment = sizeof(int);
      break;
    case Holds::number:
      bytes = alignment = sizeof(T);
      break;
    case Holds::two_numbers:
      bytes = 2 * sizeof(T);
      alignment = sizeof(T);
      break;
    case Holds::eight_bytes:
      bytes = alignment = sizeof(void*);
      break;
  }
  return {with_letter(pattern.begin, letter), with_letter(pattern.end, letter),
          std::move(operation)};
}

template <class T, const auto& list>
void append(std::vector<Named>& all, char letter, c10::ScalarType type) {
  [&]<std::size_t... index>(std::index_sequence<index...>) {
    (all.push_back(named<T, list, index>(letter, type)), ...);
  }
  (std::make_index_sequence<list.size()>());
}

std::vector<Named> make_all() {
  std::vector<Named> all;
  append<float, kOfAll<float>>(all, 'f', c10::ScalarType::Float);
  append<float, kOfFloats<float>>(all, 'f', c10::ScalarType::Float);
  append<double, kOfAll<double>>(all, 'd', c10::ScalarType::Double);
  append<double, kOfFloats<double>>(all, 'd', c10::ScalarType::Double);
  append<std::int64_t, kOfAll<std::int64_t>>(all, 'l', c10::ScalarType::Long);
  append<std::int64_t, kOfWholeNumbers<std::int64_t>>(all, 'l', c10::ScalarType::Long);
  append<std::int32_t, kOfAll<std::int32_t>>(all, 'i', c10::ScalarType::Int);
  append<std::int32_t, kOfWholeNumbers<std::int32_t>>(all, 'i', c10::ScalarType::Int);
  append<std::int64_t, kOfBits<std::int64_t>>(all, 'm', c10::ScalarType::Long);
  append<std::int32_t, kOfBits<std::int32_t>>(all, 'j', c10::ScalarType::Int);
  append<std::int64_t, kOfBools>(all, 'b', c10::ScalarType::Long);
  return all;
}

bool is_named(std::string_view name, const Named& one) {
  const std::size_t begin = name.find(one.begin);
  return begin != std::string_view::npos &&
         name.find(one.end, begin + one.begin.size()) != std::string_view::npos;
}

}  // namespace

const Operation* find_operation(std::string_view name) {
  // elementwise_kernel runs a lambda of a place, whose parameter is no functor's.
  if (name.find("18elementwise_kernelI") != std::string_view::npos) {
    name = name.substr(0, name.rfind("EUliE"));
  }
  static const auto& all = *new std::vector<Named>(make_all());
  const auto found =
      std::ranges::find_if(all, [&](const Named& one) { return is_named(name, one); });
  return found == all.end() ? nullptr : &found->operation;
}

}  // namespace headroom::dry_run
