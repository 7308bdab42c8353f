// SPDX-License-Identifier: Apache-2.0
// libcuda: kernels that are compiled at run time, by NVRTC or Triton. The compiler is the real one,
// the kernel does nothing.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "src/dry_run/compiled_function.h"
#include "src/dry_run/compiled_work.h"
#include "src/dry_run/dry_run.h"
#include "src/dry_run/small_reductions.h"
#include "src/dry_run/torch_library.h"
#include "src/dry_run/watchdog.h"
#include "src/ptx/cubin.h"

namespace headroom::dry_run {
namespace {

/// What a program loaded: the PTX of its kernels, where it is known. It has no other content.
struct Module {
  std::shared_ptr<const std::string> ptx;
};

CUmodule module_of(std::string_view ptx) {
  return reinterpret_cast<CUmodule>(new Module{std::make_shared<const std::string>(ptx)});
}

CompiledFunction& function_of(CUfunction function) {
  return *reinterpret_cast<CompiledFunction*>(function);
}

std::string contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// On the current device, which needs no context for it since CUDA 12.
void note_compiled() {
  const int device = current_device();
  if (!dry_run().has(device)) return;
  dry_run().devices.at(static_cast<std::size_t>(device)).steps.note_compiled();
}

/// Whether the kernel writes nowhere but where DryRun::known says.
bool is_known(CompiledFunction& function, const ptx::Launch& launch,
              const std::optional<ptx::Count>& executed) {
  if (function.run(launch, executed, dry_run().blocks, dry_run().known)) return true;
  return function.name() == kCompiledProduct && launch.arguments != nullptr &&
         are_kernels_of_torch_known() &&
         run_reduction(kCompiledProduct, launch.arguments[0], dry_run().known, &is_of_device);
}

}  // namespace

HEADROOM_ENTRY CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  note_compiled();
  *module = module_of(ptx::ptx_of_cubin(image));
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return cuModuleLoadData(module, contents(path).c_str());
}

HEADROOM_ENTRY CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned,
                                           CUjit_option*, void**) {
  return cuModuleLoadData(module, image);
}

/// Its functions stay, as all do that a program may still call.
HEADROOM_ENTRY CUresult cuModuleUnload(CUmodule module) {
  delete reinterpret_cast<Module*>(module);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuModuleGetFunction(CUfunction* function, CUmodule module,
                                            const char* name) {
  const auto& loaded = *reinterpret_cast<const Module*>(module);
  *function = reinterpret_cast<CUfunction>(new CompiledFunction(name, loaded.ptx));
  return CUDA_SUCCESS;
}

// The same by the functions since CUDA 12, in which a library has no device.

HEADROOM_ENTRY CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*,
                                          void**, unsigned, CUlibraryOption*, void**, unsigned) {
  return cuModuleLoadData(reinterpret_cast<CUmodule*>(library), image);
}

HEADROOM_ENTRY CUresult cuLibraryUnload(CUlibrary library) {
  return cuModuleUnload(reinterpret_cast<CUmodule>(library));
}

HEADROOM_ENTRY CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return cuModuleGetFunction(reinterpret_cast<CUfunction*>(kernel),
                             reinterpret_cast<CUmodule>(library), name);
}

HEADROOM_ENTRY CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute,
                                             CUkernel kernel, CUdevice) {
  return cuFuncGetAttribute(value, attribute, reinterpret_cast<CUfunction>(kernel));
}

HEADROOM_ENTRY CUresult cuKernelSetAttribute(CUfunction_attribute, int, CUkernel, CUdevice) {
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, /*function=*/nullptr);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = attributes.maxThreadsPerBlock;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = attributes.numRegs;
      return CUDA_SUCCESS;
    default:  // it uses no memory of its own
      *value = 0;
      return CUDA_SUCCESS;
  }
}

HEADROOM_ENTRY CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }

HEADROOM_ENTRY CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction,
                                                     const CUlaunchConfig*) {
  *clusters = dry_run().gpu.multiprocessors;
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction,
                                                                    int threads,
                                                                    std::size_t shared) {
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, nullptr, threads, shared);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, CUfunction function, int threads, std::size_t shared, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

HEADROOM_ENTRY CUresult cuOccupancyMaxPotentialBlockSize(int* fewest_blocks, int* threads,
                                                         CUfunction function, CUoccupancyB2DSize,
                                                         std::size_t shared, int most) {
  int of_kernel = 0;
  cuFuncGetAttribute(&of_kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
  *threads = most == 0 ? of_kernel : std::min(most, of_kernel);
  int blocks = 0;
  cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, *threads, shared);
  *fewest_blocks = blocks * dry_run().gpu.multiprocessors;
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                       unsigned grid_z, unsigned block_x, unsigned block_y,
                                       unsigned block_z, unsigned, CUstream stream,
                                       void** arguments, void**) {
  const ptx::Launch launch{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, arguments};
  if (launch.blocks() * launch.threads() == 0) return CUDA_ERROR_INVALID_VALUE;
  const AtWork at_work;
  CompiledFunction& compiled = function_of(function);
  const auto count = compiled.count(launch, dry_run().blocks, dry_run().known);
  const auto parts = compiled.parts(launch, dry_run().blocks);
  const Work work =
      compiled_work(dry_run().gpu, launch,
                    parts.value_or(Parts{tensor_bytes(launch.arguments, dry_run().blocks)}), count);
  if (is_known(compiled, launch, count)) {
    run_transfer(stream, work);
  } else {
    run_work(stream, work);
  }
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                         void** arguments, void** extra) {
  return cuLaunchKernel(function, config->gridDimX, config->gridDimY, config->gridDimZ,
                        config->blockDimX, config->blockDimY, config->blockDimZ,
                        config->sharedMemBytes, config->hStream, arguments, extra);
}

}  // namespace headroom::dry_run
