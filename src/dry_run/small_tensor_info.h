// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/dry_run/small_launch.h"

// How kernels of PyTorch that take tensors one by one are told of each.
namespace headroom::dry_run {

/// at::cuda::detail::TensorInfo: {data, sizes[25], strides[25], int dimensions}, the last dimension
/// the fastest, strides in elements. Sizes and strides have 4 or 8 bytes each.
class TensorInfo {
 public:
  explicit TensorInfo(const void* info, std::size_t index_bytes = sizeof(std::uint32_t))
      : info_(info), index_bytes_(index_bytes) {}

  const char* data() const { return at<const char*>(info_); }
  std::size_t dimensions() const {
    return at<std::uint32_t>(info_, sizeof(void*) + 2 * kMost * index_bytes_);
  }
  std::size_t size(std::size_t dimension) const { return number(dimension); }
  std::size_t stride(std::size_t dimension) const { return number(kMost + dimension); }
  std::size_t elements() const {
    std::size_t count = 1;
    for (std::size_t i = 0; i < dimensions(); ++i) count *= size(i);
    return count;
  }
  /// How far an element lies from the first, in elements.
  std::size_t of(std::size_t element) const {
    std::size_t offset = 0;
    for (std::size_t i = dimensions(); i-- > 1; element /= size(i)) {
      offset += element % size(i) * stride(i);
    }
    return offset + element * stride(0);
  }
  /// From the first element to behind the last, in elements.
  std::size_t reach() const {
    std::size_t last = 0;
    for (std::size_t i = 0; i < dimensions(); ++i) last += (size(i) - 1) * stride(i);
    return last + 1;
  }
  bool is_laid_out() const {
    if (dimensions() == 0 || dimensions() > kMost) return false;
    for (std::size_t i = 0; i < dimensions(); ++i) {
      if (size(i) == 0) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kMost = 25;  // dimensions

  std::size_t number(std::size_t place) const {
    const std::size_t offset = sizeof(void*) + place * index_bytes_;
    return index_bytes_ == sizeof(std::uint32_t) ? at<std::uint32_t>(info_, offset)
                                                 : at<std::size_t>(info_, offset);
  }

  const void* info_;
  std::size_t index_bytes_;
};

}  // namespace headroom::dry_run
