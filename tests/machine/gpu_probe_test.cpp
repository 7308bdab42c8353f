// SPDX-License-Identifier: Apache-2.0
#include "src/machine/gpu_probe.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

// The words are LibTorch's and CUDA's.
TEST(GpuProbe, tells_a_gpu_that_others_have_from_one_that_does_not_work) {
  for (const char* taken :
       {"CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 79.11 GiB",
        "CUDA error: out of memory",
        "CUDA error: CUDA-capable device(s) is/are busy or unavailable"}) {
    EXPECT_TRUE(is_taken(taken)) << taken;
  }
  for (const char* broken :
       {"CUDA error: unspecified launch failure", "CUDA error: device-side assert triggered",
        "CUDA error: an illegal memory access was encountered", "No CUDA GPUs are available",
        "CUDA error: uncorrectable ECC error encountered", "CUDA error: unknown error"}) {
    EXPECT_FALSE(is_taken(broken)) << broken;
  }
}

}  // namespace
}  // namespace headroom
