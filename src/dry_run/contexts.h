// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

namespace headroom::dry_run {

/// The driver's handle of a device.
CUcontext primary_context(int device);

}  // namespace headroom::dry_run
