// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// Where an elementwise kernel of PyTorch's finds its elements, of which types.
namespace headroom::dry_run {

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
