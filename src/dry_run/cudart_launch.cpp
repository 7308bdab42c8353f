// SPDX-License-Identifier: Apache-2.0
// cudart: what compiled device code registers when it is loaded, and launches of kernels.
#include <cuda_runtime.h>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/imports.h"

namespace headroom::dry_run {
namespace {

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};

// What <<<grid, block>>> pushes and the generated stub of the kernel pops.
thread_local LaunchShape pushed;

std::int64_t count(dim3 size) { return std::int64_t{1} * size.x * size.y * size.z; }

cudaError_t launch(dim3 grid, dim3 block, cudaStream_t stream) {
  run_kernel(stream, count(grid) * count(block));
  return cudaSuccess;
}

}  // namespace

/// Called for each part of a library that has device code, when the library is loaded.
HEADROOM_ENTRY void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  bind_what_is_not_modelled();
  return &handle;
}
HEADROOM_ENTRY void __cudaRegisterFatBinaryEnd(void**) {}
HEADROOM_ENTRY void __cudaUnregisterFatBinary(void**) {}
HEADROOM_ENTRY char __cudaInitModule(void**) { return 1; }
HEADROOM_ENTRY void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*,
                                           uint3*, dim3*, dim3*, int*) {}
HEADROOM_ENTRY void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int,
                                      int) {}

HEADROOM_ENTRY unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                                    CUstream_st* stream) {
  pushed = {grid, block, shared, stream};
  return 0;
}

HEADROOM_ENTRY cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared,
                                                      void* stream) {
  *grid = pushed.grid;
  *block = pushed.block;
  *shared = pushed.shared;
  *static_cast<cudaStream_t*>(stream) = pushed.stream;
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3 grid, dim3 block, void**,
                                              std::size_t, cudaStream_t stream) {
  return launch(grid, block, stream);
}

HEADROOM_ENTRY cudaError_t cudaLaunchKernel(const void*, dim3 grid, dim3 block, void**, std::size_t,
                                            cudaStream_t stream) {
  return launch(grid, block, stream);
}

HEADROOM_ENTRY cudaError_t cudaLaunchCooperativeKernel(const void*, dim3 grid, dim3 block, void**,
                                                       std::size_t, cudaStream_t stream) {
  return launch(grid, block, stream);
}

HEADROOM_ENTRY cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void*,
                                               void**) {
  return launch(config->gridDim, config->blockDim, config->stream);
}

}  // namespace headroom::dry_run
