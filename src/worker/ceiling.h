// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace headroom {

/// Floating-point operations a second of the best of a few large square products of random numbers:
/// what this machine reaches now, against which utilisation is read. A data sheet's peak is reached
/// by no product. Source of the idea: "maximum achievable matmul FLOPS", stas00/ml-engineering.
double product_ceiling(c10::Device device, at::ScalarType dtype);

}  // namespace headroom
