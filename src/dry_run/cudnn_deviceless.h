// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "src/dry_run/cudnn_types.h"

namespace headroom::dry_run {

// What cuDNN does on a GPU, and does not tell where there is none: seen on an H100 with cuDNN 9.19,
// by the names of the kernels that ran and by the bytes that were allocated.

/// The work area of a convolution as a product of matrices by cuBLASLt, which cuDNN can't ask for
/// its kernels without a GPU; none: cuDNN does not take it. It does where the window is one number
/// and each channel of a sample starts at 16 bytes, as nothing is copied then. The gradient of the
/// filter is a product a sample, which are summed: only where that moves less than copies would.
std::optional<std::int64_t> product_workspace(const Convolution& convolution);

}  // namespace headroom::dry_run
