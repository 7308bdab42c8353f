// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/dry_run/small_launch.h"

// How kernels of PyTorch are told where a tensor's elements lie.
namespace headroom::dry_run {

/// at::cuda::detail::TensorInfo<T, Index>{data, sizes[25], strides[25], dimensions}, the slowest
/// dimension first, all in elements. An index has 4 or 8 bytes.
class TensorInfo {
 public:
  static constexpr std::size_t kMost = 25;  // dimensions

  TensorInfo(const void* info, std::size_t index_bytes) : info_(info), index_bytes_(index_bytes) {}

  const char* data() const { return at<const char*>(info_); }
  std::size_t dimensions() const {
    return static_cast<std::size_t>(at<int>(info_, sizeof(void*) + 2 * kMost * index_bytes_));
  }
  std::size_t size(std::size_t dimension) const { return index(dimension); }
  std::size_t stride(std::size_t dimension) const { return index(kMost + dimension); }
  bool is_laid_out() const {
    if (dimensions() == 0 || dimensions() > kMost) return false;
    for (std::size_t i = 0; i < dimensions(); ++i) {
      if (size(i) == 0) return false;
    }
    return true;
  }
  std::size_t elements() const {
    std::size_t count = 1;
    for (std::size_t i = 0; i < dimensions(); ++i) count *= size(i);
    return count;
  }
  /// From the first element to behind the last.
  std::size_t reach() const {
    std::size_t last = 0;
    for (std::size_t i = 0; i < dimensions(); ++i) last += (size(i) - 1) * stride(i);
    return last + 1;
  }
  /// Where an element lies, of which the last dimension's lie beside each other.
  std::size_t place(std::size_t element) const {
    std::size_t place = 0;
    for (std::size_t i = dimensions(); i-- > 0;) {
      place += element % size(i) * stride(i);
      element /= size(i);
    }
    return place;
  }

 private:
  std::size_t index(std::size_t number) const {
    const std::size_t offset = sizeof(void*) + number * index_bytes_;
    return index_bytes_ == sizeof(std::int64_t) ? at<std::uint64_t>(info_, offset)
                                                : at<std::uint32_t>(info_, offset);
  }

  const void* info_;
  std::size_t index_bytes_;
};

}  // namespace headroom::dry_run
