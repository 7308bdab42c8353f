// SPDX-License-Identifier: Apache-2.0
// cudart: what compiled device code registers when it is loaded, and launches of kernels.
#include <cuda_runtime.h>

#include <mutex>
#include <optional>
#include <unordered_map>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/imports.h"
#include "src/dry_run/launch_work.h"
#include "src/dry_run/small_kernels.h"
#include "src/dry_run/torch_library.h"

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

/// A kernel that was compiled with a program, by the address by which the program knows it. What
/// its name says is read at its first launch: PyTorch registers thousands.
struct Kernel {
  SmallKernel kind{};
  const char* name;
  std::optional<KernelForm> form;
};

/// A library that is loaded late registers its own beside launches.
struct Kernels {
  std::mutex mutex;
  std::unordered_map<const void*, Kernel> list;
};

Kernels& kernels() {
  static auto& all = *new Kernels;
  return all;
}

/// Never changes once it was found.
const Kernel& find_kernel(const void* function) {
  static const Kernel unknown{{}, "", KernelForm{}};
  const std::lock_guard lock(kernels().mutex);
  const auto found = kernels().list.find(function);
  if (found == kernels().list.end()) return unknown;
  Kernel& kernel = found->second;
  if (!kernel.form) {
    kernel.kind = small_kernel(kernel.name);
    kernel.form = kernel_form(kernel.name);
  }
  return kernel;
}

/// Whether the kernel writes nowhere but where DryRun::known says.
bool is_known(const Kernel& kernel, dim3 grid, dim3 block, void** arguments) {
  KnownBytes& known = dry_run().known;
  if (!are_kernels_of_torch_known()) {
    // Which kernels write where is not known there, so what a check gave counts until the next one.
    known.forget_assumed();
    if (!kernel.kind.is_check) return false;
  }
  const SmallLaunch launch{kernel.name, arguments, grid.x, grid.y, block.x, dry_run().blocks};
  return kernel.kind.run != nullptr && kernel.kind.run(launch, known, &is_of_device);
}

/// Where a kernel of another library writes, nothing is known any more.
void forget_what_is_written(const KernelForm& form, void** arguments) {
  for (const std::size_t place : form.written) {
    const auto* const to = *static_cast<const void* const*>(arguments[place]);
    const std::int64_t size = dry_run().blocks.behind(to);
    if (size > 0) dry_run().known.forget(to, static_cast<std::size_t>(size));
  }
}

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** arguments,
                   cudaStream_t stream) {
  const Kernel& kernel = find_kernel(function);
  const Work work =
      launch_work(dry_run().gpu, *kernel.form, {grid, block, arguments}, dry_run().blocks);
  if (is_known(kernel, grid, block, arguments)) {
    run_transfer(stream, work);
  } else {
    forget_what_is_written(*kernel.form, arguments);
    run_work(stream, work);
  }
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
HEADROOM_ENTRY void __cudaRegisterFunction(void**, const char* function, char*, const char* name,
                                           int, uint3*, uint3*, dim3*, dim3*, int*) {
  const std::lock_guard lock(kernels().mutex);
  kernels().list[function] = {{}, name, {}};
}
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

HEADROOM_ENTRY cudaError_t __cudaLaunchKernel(cudaKernel_t function, dim3 grid, dim3 block,
                                              void** arguments, std::size_t, cudaStream_t stream) {
  return launch(function, grid, block, arguments, stream);
}

HEADROOM_ENTRY cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                                            void** arguments, std::size_t, cudaStream_t stream) {
  return launch(function, grid, block, arguments, stream);
}

HEADROOM_ENTRY cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                                       void** arguments, std::size_t,
                                                       cudaStream_t stream) {
  return launch(function, grid, block, arguments, stream);
}

HEADROOM_ENTRY cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config,
                                               const void* function, void** arguments) {
  return launch(function, config->gridDim, config->blockDim, arguments, config->stream);
}

}  // namespace headroom::dry_run
