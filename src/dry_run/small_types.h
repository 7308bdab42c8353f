// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cstddef>
#include <cstdint>

namespace headroom::dry_run {

/// Calls with a value of the type. False: it is none that is followed.
template <class Call>
bool with_type(c10::ScalarType type, const Call& call) {
  switch (type) {
    case c10::ScalarType::Bool:
      return call(bool{}), true;
    case c10::ScalarType::Byte:
      return call(std::uint8_t{}), true;
    case c10::ScalarType::Int:
      return call(std::int32_t{}), true;
    case c10::ScalarType::Long:
      return call(std::int64_t{}), true;
    case c10::ScalarType::Half:
      return call(c10::Half{}), true;
    case c10::ScalarType::BFloat16:
      return call(c10::BFloat16{}), true;
    case c10::ScalarType::Float:
      return call(float{}), true;
    case c10::ScalarType::Double:
      return call(double{}), true;
    default:
      return false;
  }
}

/// Bytes of an element; 0: it is none that is followed.
inline std::size_t bytes_of_type(c10::ScalarType type) {
  std::size_t bytes = 0;
  with_type(type, [&](auto value) { bytes = sizeof(value); });
  return bytes;
}

}  // namespace headroom::dry_run
