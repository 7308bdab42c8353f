// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace headroom::dry_run {

/// Gives the error back, and keeps it as this thread's last error, as cudart does.
cudaError_t fail(cudaError_t error);

}  // namespace headroom::dry_run
