// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/dry_run/parts.h"
#include "src/dry_run/small_launch.h"

// How kernels of PyTorch find the elements of tensors that do not lie in a row.
namespace headroom::dry_run {

/// OffsetCalculator: {dimensions, {size, two numbers to divide by it}[25], strides[25][of how many
/// tensors]}, the fastest dimension first, strides in bytes.
class Offsets {
 public:
  static constexpr std::size_t kMost = 25;  // dimensions

  /// Of a calculator.
  static constexpr std::size_t bytes(std::size_t tensors) {
    return kStrides + kMost * tensors * sizeof(std::uint32_t);
  }
  /// Where the addresses of the tensors, the first of which is written, stand in what an
  /// elementwise_kernel is called with, which begins with a calculator.
  static constexpr std::size_t addresses(std::size_t tensors) {
    return whole_parts(bytes(tensors), alignof(void*));
  }

  Offsets(const void* calculator, std::size_t tensors)
      : calculator_(calculator), tensors_(tensors) {}

  std::size_t dimensions() const { return at<std::uint32_t>(calculator_); }
  std::size_t of(std::size_t element, std::size_t tensor) const {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < dimensions(); ++i) {
      offset += element % size(i) * stride(i, tensor);
      element /= size(i);
    }
    return offset;
  }
  /// Of the last element.
  std::size_t last(std::size_t tensor) const {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < dimensions(); ++i) {
      offset += std::size_t{size(i) - 1} * stride(i, tensor);
    }
    return offset;
  }
  bool is_laid_out() const {
    if (dimensions() > kMost) return false;
    for (std::size_t i = 0; i < dimensions(); ++i) {
      if (size(i) == 0) return false;
    }
    return true;
  }
  std::size_t elements() const {
    std::size_t product = 1;
    for (std::size_t i = 0; i < dimensions(); ++i) product *= size(i);
    return product;
  }
  const char* address(std::size_t tensor) const {
    return at<const char*>(calculator_, addresses(tensors_) + tensor * sizeof(void*));
  }
  std::uint32_t size(std::size_t dimension) const {
    return at<std::uint32_t>(calculator_, kSizes + dimension * kDivider);
  }
  std::uint32_t stride(std::size_t dimension, std::size_t tensor) const {
    return at<std::uint32_t>(calculator_,
                             kStrides + (dimension * tensors_ + tensor) * sizeof(std::uint32_t));
  }

 private:
  static constexpr std::size_t kSizes = sizeof(std::uint32_t);
  static constexpr std::size_t kDivider = 3 * sizeof(std::uint32_t);
  static constexpr std::size_t kStrides = kSizes + kMost * kDivider;

  const void* calculator_;
  std::size_t tensors_;
};

}  // namespace headroom::dry_run
