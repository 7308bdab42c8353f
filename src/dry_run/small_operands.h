// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/dry_run/known_bytes.h"

// Where an elementwise kernel of PyTorch's finds its elements, of which types.
namespace headroom::dry_run {

/// Calls with a value of the type. False: it is none that is followed.
template <class Call>
bool with_type(c10::ScalarType type, const Call& call) {
  switch (type) {
    case c10::ScalarType::Bool:
      return call(bool{}), true;
    case c10::ScalarType::Byte:
      return call(std::uint8_t{}), true;
    case c10::ScalarType::Char:
      return call(std::int8_t{}), true;
    case c10::ScalarType::Short:
      return call(std::int16_t{}), true;
    case c10::ScalarType::UInt16:
      return call(std::uint16_t{}), true;
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

/// The type that mangled text begins with; nothing: it is none that is followed.
std::optional<c10::ScalarType> type_named(std::string_view mangled);
/// Likewise, and the text goes on behind it.
std::optional<c10::ScalarType> take_type(std::string_view& mangled);
/// The type that stands behind a part of a mangled name; nothing: that, or the part is not there.
std::optional<c10::ScalarType> type_behind(std::string_view name, std::string_view part);

/// Writes the number that stands at `from` as one of another type, both of types that are followed.
void convert(const void* from, c10::ScalarType from_type, void* to, c10::ScalarType to_type);

/// These now stand there, as numbers of that type.
void put_numbers(KnownBytes& known, const void* to, const std::vector<std::int64_t>& numbers,
                 c10::ScalarType type, Trust trust);

/// Something that is not known now stands there: one float, where `type` is one's, that the host
/// reads as 1. Programs divide by norms and losses, and take their logarithms.
void forget_one(KnownBytes& known, const void* at, c10::ScalarType type);

/// What a functor takes and gives: of each tensor, what it is written to first, the type.
struct Signature {
  std::vector<c10::ScalarType> types;
  std::size_t functor_bytes;
  std::size_t functor_alignment;
};

struct Operands {
  static constexpr std::size_t kMost = 4;
  struct Tensor {
    const char* data;
    c10::ScalarType type;
    std::size_t width;                   // bytes of an element
    std::vector<std::uint32_t> strides;  // bytes, of each dimension

    /// Bytes from the first element to behind the last.
    std::size_t reach(const std::vector<std::uint32_t>& sizes) const;
  };

  /// How far into a tensor an element lies, in bytes.
  std::size_t offset(const Tensor& tensor, std::size_t element) const;

  std::size_t count;
  const void* functor;
  std::vector<std::uint32_t> sizes;  // the fastest first
  std::vector<Tensor> tensors;       // the first is written
};

/// Nothing: the arguments are not laid out as expected, or a type is none that is followed.
std::optional<Operands> find_operands(std::string_view name, void** arguments,
                                      const Signature& signature);

}  // namespace headroom::dry_run
