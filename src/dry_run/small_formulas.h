// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "src/dry_run/small_launch.h"

// What functors of PyTorch's elementwise kernels compute, T: the type that they compute in. They
// hold numbers of that type, behind something empty or a number that says which operation, each
// where C++ puts it.
namespace headroom::dry_run {

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
  return product(in[0], static_cast<T>(-1));
}
template <class T>
T absolute(const T* in, const void*) {
  if constexpr (std::floating_point<T>) return std::fabs(in[0]);
  return in[0] < T{0} ? negative(in, nullptr) : in[0];
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
T one_of_two_holds(const T* in, const void*) {
  return (in[0] != T{0}) != (in[1] != T{0}) ? T{1} : T{0};
}
template <class T>
T is_zero(const T* in, const void*) {
  return in[0] == T{0} ? T{1} : T{0};
}
/// {value}.
template <class T>
T filled(const T*, const void* functor) {
  return held<T>(functor);
}
/// {bool}.
template <class T>
T filled_by_flag(const T*, const void* functor) {
  return static_cast<T>(at<bool>(functor));
}
template <class T>
T replaced(const T* in, const void* functor) {
  return in[1] != T{0} ? held<T>(functor) : in[0];
}
template <class T>
T replaced_by_flag(const T* in, const void* functor) {
  return in[1] != T{0} ? static_cast<T>(at<bool>(functor)) : in[0];
}
template <class T>
T either(const T* in, const void*) {
  return in[0] != T{0} ? in[1] : in[2];
}

template <class T>
T sign(const T* in, const void*) {
  return static_cast<T>((in[0] > T{0} ? 1 : 0) - (in[0] < T{0} ? 1 : 0));
}

/// A function in double: rounded once to float.
template <class T, double (*function)(double)>
T rounded(const T* in, const void*) {
  return static_cast<T>(function(static_cast<double>(in[0])));
}
inline double sigmoid(double value) { return 1 / (1 + std::exp(-value)); }
inline double reciprocal_root(double value) { return 1 / std::sqrt(value); }

template <class T>
T power(T base, T exponent) {
  if constexpr (std::floating_point<T>) {
    return static_cast<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  } else {
    if constexpr (std::is_signed_v<T>) {
      if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
    }
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

/// Behind a number that says which operation.
template <class T>
T held_behind_which(const void* functor) {
  return at<T>(functor, std::max(sizeof(int), sizeof(T)));
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
  return holds(at<int>(functor), in[0], held_behind_which<T>(functor));
}

/// {0: ==, 1: !=}.
template <class T>
T equals(const T* in, const void* functor) {
  return (in[0] == in[1]) == (at<int>(functor) == 0) ? T{1} : T{0};
}
template <class T>
T equals_held(const T* in, const void* functor) {
  const std::array both{in[0], held_behind_which<T>(functor)};
  return equals(both.data(), functor);
}

/// {the same, bool}.
inline double equals_flag(const double* in, const void* functor) {
  const std::array both{in[0] != 0 ? 1.0 : 0.0, at<bool>(functor, sizeof(int)) ? 1.0 : 0.0};
  return equals(both.data(), functor);
}

/// {0: at least, 1: at most, 2: between; that; that}.
template <class T>
T clamped(const T* in, const void* functor) {
  const auto which = at<int>(functor);
  const std::size_t limits = std::max(sizeof(int), sizeof(T));
  const auto first = at<T>(functor, limits);
  const auto second = at<T>(functor, limits + sizeof(T));
  T value = in[0];
  if (value != value) return value;
  if (which != 1 && value < first) value = first;
  if (which == 1 && value > first) value = first;
  return which == 2 && value > second ? second : value;
}
template <class T>
T between(const T* in, const void*) {
  return in[0] < in[1] ? std::min(in[1], in[2]) : std::min(in[0], in[2]);
}

template <std::integral T>
T bits_of_both(const T* in, const void*) {
  return static_cast<T>(in[0] & in[1]);
}
template <std::integral T>
T bits_of_one(const T* in, const void*) {
  return static_cast<T>(in[0] | in[1]);
}
template <std::integral T>
T bits_of_one_of_two(const T* in, const void*) {
  return static_cast<T>(in[0] ^ in[1]);
}
template <std::integral T>
T other_bits(const T* in, const void*) {
  return static_cast<T>(~in[0]);
}

/// By how many bits, which may be more than there are.
template <std::integral T>
T shifted_up(const T* in, const void*) {
  constexpr int kBits = 8 * sizeof(T);
  if (in[1] < 0 || in[1] >= kBits) return 0;
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(in[0]) << in[1]);
}
template <std::integral T>
T shifted_down(const T* in, const void*) {
  constexpr int kMost = 8 * sizeof(T) - (std::is_signed_v<T> ? 1 : 0);
  return static_cast<T>(in[0] >> (in[1] < 0 || in[1] >= kMost ? kMost : in[1]));
}

template <std::integral T>
T divide_down(const T* in, const void*) {
  if (in[1] == 0) return 0;
  return static_cast<T>(in[0] / in[1] - (in[0] % in[1] != 0 && (in[0] < 0) != (in[1] < 0) ? 1 : 0));
}
template <std::integral T>
T divide_to_zero(const T* in, const void*) {
  return in[1] == 0 ? 0 : in[0] / in[1];
}
template <std::integral T>
T remainder(const T* in, const void* functor) {
  return in[1] == 0 ? 0 : static_cast<T>(in[0] - divide_down(in, functor) * in[1]);
}
template <std::integral T>
T rest(const T* in, const void*) {
  return in[1] == 0 ? 0 : static_cast<T>(in[0] % in[1]);
}

/// Of floats as Python divides: the remainder has the divisor's sign. `quotient`: of what is left
/// without the rest, which ATen multiplies by the inverse of a number that is held.
template <std::floating_point T>
T divided_down(T self, T divisor, T quotient, T rest) {
  if (divisor == 0) return self / divisor;
  if (rest != 0 && (divisor < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(T{0}, self / divisor);
  const T floor = std::floor(quotient);
  return quotient - floor > T(0.5) ? floor + 1 : floor;
}
template <std::floating_point T>
T divide_down(const T* in, const void*) {
  const T rest = std::fmod(in[0], in[1]);
  return divided_down(in[0], in[1], (in[0] - rest) / in[1], rest);
}
/// {divisor, its inverse}.
template <std::floating_point T>
T divide_down_by(const T* in, const void* functor) {
  const T divisor = held<T>(functor);
  const T rest = std::fmod(in[0], divisor);
  return divided_down(in[0], divisor, (in[0] - rest) * held<T>(functor, 1), rest);
}
template <std::floating_point T>
T divide_to_zero(const T* in, const void*) {
  return std::trunc(in[0] / in[1]);
}
/// {inverse of the divisor}.
template <std::floating_point T>
T divide_to_zero_by(const T* in, const void* functor) {
  return std::trunc(in[0] * held<T>(functor));
}
template <std::floating_point T>
T rest(const T* in, const void*) {
  return std::fmod(in[0], in[1]);
}
template <std::floating_point T>
T remainder(const T* in, const void* functor) {
  const T found = rest(in, functor);
  return found != 0 && (in[1] < 0) != (found < 0) ? found + in[1] : found;
}
/// The same with what stands in the functor on the left, or on the right.
template <class T, T (*of_two)(const T*, const void*)>
T of_held(const T* in, const void* functor) {
  const std::array<T, 2> both{held<T>(functor, 1), in[0]};
  return of_two(both.data(), functor);
}
template <class T, T (*of_two)(const T*, const void*)>
T with_held(const T* in, const void* functor) {
  const std::array<T, 2> both{in[0], held<T>(functor, 1)};
  return of_two(both.data(), functor);
}

/// Of bools: with the one behind the functor's first byte.
template <double (*of_two)(const double*, const void*)>
double with_flag(const double* in, const void* functor) {
  const std::array<double, 2> both{in[0], at<bool>(functor, 1) ? 1.0 : 0.0};
  return of_two(both.data(), functor);
}
/// {alpha}.
inline double add_flags(const double* in, const void* functor) {
  return in[0] != 0 || (at<bool>(functor) && in[1] != 0) ? 1 : 0;
}
/// {other, alpha}.
inline double add_held_flag(const double* in, const void* functor) {
  return in[0] != 0 || (at<bool>(functor) && at<bool>(functor, 1)) ? 1 : 0;
}
/// {self, alpha}.
inline double add_to_held_flag(const double* in, const void* functor) {
  return at<bool>(functor) || (in[0] != 0 && at<bool>(functor, 1)) ? 1 : 0;
}

}  // namespace headroom::dry_run
