// SPDX-License-Identifier: Apache-2.0
// libcuda: what PyTorch asks of the driver past cudart. It finds these through
// cudaGetDriverEntryPointByVersion, or by opening libcuda.so.1, which this library's name is. Then
// kernels that are compiled at run time, by NVRTC or Triton: the compiler is the real one, the
// kernel does nothing.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <map>
#include <mutex>

#include "src/dry_run/contexts.h"
#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

/// Physical memory without an address, by its handle.
class Chunks {
 public:
  CUmemGenericAllocationHandle add(int device, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    chunks_[++last_] = {device, bytes};
    return last_;
  }
  void release(CUmemGenericAllocationHandle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = chunks_.find(handle);
    if (found == chunks_.end()) return;
    const auto [device, bytes] = found->second;
    device_with_context(device).memory.give_back(bytes);
    chunks_.erase(found);
  }

 private:
  struct Chunk {
    int device;
    std::int64_t bytes;
  };
  std::mutex mutex_;
  std::map<CUmemGenericAllocationHandle, Chunk> chunks_;
  CUmemGenericAllocationHandle last_ = 0;
};

Chunks& chunks() {
  static auto& all = *new Chunks;
  return all;
}

/// Any handle will do for what has no content here: modules, functions.
template <class Handle>
Handle new_handle() {
  static std::atomic<std::uintptr_t> last{0x100000};
  return reinterpret_cast<Handle>(last += 16);
}

}  // namespace

HEADROOM_ENTRY cudaError_t
cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                 cudaDriverEntryPointQueryResult* result) {
  *function = dlsym(RTLD_DEFAULT, name);
  if (result != nullptr) {
    *result =
        *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  }
  return cudaSuccess;
}

HEADROOM_ENTRY CUresult cuInit(unsigned) { return CUDA_SUCCESS; }

HEADROOM_ENTRY CUresult cuDriverGetVersion(int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuGetErrorName(CUresult error, const char** text) {
  switch (error) {  // what is given here
    case CUDA_ERROR_INVALID_VALUE:
      *text = "CUDA_ERROR_INVALID_VALUE";
      return CUDA_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
      *text = "CUDA_ERROR_OUT_OF_MEMORY";
      return CUDA_SUCCESS;
    case CUDA_ERROR_INVALID_DEVICE:
      *text = "CUDA_ERROR_INVALID_DEVICE";
      return CUDA_SUCCESS;
    case CUDA_ERROR_NOT_FOUND:
      *text = "CUDA_ERROR_NOT_FOUND";
      return CUDA_SUCCESS;
    case CUDA_ERROR_NOT_SUPPORTED:
      *text = "CUDA_ERROR_NOT_SUPPORTED";
      return CUDA_SUCCESS;
    default:
      *text = nullptr;
      return CUDA_ERROR_INVALID_VALUE;
  }
}

HEADROOM_ENTRY CUresult cuGetErrorString(CUresult error, const char** text) {
  if (error != CUDA_ERROR_OUT_OF_MEMORY) return cuGetErrorName(error, text);
  *text = "out of memory";
  return CUDA_SUCCESS;
}

// LibTorch 2.15 asks for the driver's log, in which nothing is ever written here.
HEADROOM_ENTRY CUresult cuLogsRegisterCallback(CUlogsCallback, void*,
                                               CUlogsCallbackHandle* handle) {
  static char registered;
  *handle = reinterpret_cast<CUlogsCallbackHandle>(&registered);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle) { return CUDA_SUCCESS; }

HEADROOM_ENTRY CUresult cuDeviceGetCount(int* count) {
  *count = static_cast<int>(dry_run().devices.size());
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuDeviceGet(CUdevice* device, int index) {
  *device = index;
  return dry_run().has(index) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

HEADROOM_ENTRY CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                             CUdevice device) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
      *value = 1;
      return CUDA_SUCCESS;
    default:  // the two lists of attributes share their numbers
      cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device);
      return CUDA_SUCCESS;
  }
}

HEADROOM_ENTRY CUresult cuCtxGetDevice(CUdevice* device) {
  cudaGetDevice(device);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  cudaStreamCaptureStatus as_cudart{};
  cudaStreamIsCapturing(stream, &as_cudart);
  *status = static_cast<CUstreamCaptureStatus>(as_cudart);  // the two have the same numbers
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuCtxGetLimit(std::size_t* value, CUlimit) {
  *value = 0;
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuCtxSetLimit(CUlimit, std::size_t) { return CUDA_SUCCESS; }

// Virtual memory: addresses and memory apart, as PyTorch's expandable segments want them.

HEADROOM_ENTRY CUresult cuMemGetAllocationGranularity(std::size_t* bytes,
                                                      const CUmemAllocationProp*,
                                                      CUmemAllocationGranularity_flags) {
  *bytes = GpuMemory::kGranularity;
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t size, std::size_t,
                                            CUdeviceptr, unsigned long long) {
  void* range = device_with_context().memory.reserve_addresses(static_cast<std::int64_t>(size));
  *address = reinterpret_cast<CUdeviceptr>(range);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuMemAddressFree(CUdeviceptr, std::size_t) { return CUDA_SUCCESS; }

HEADROOM_ENTRY CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size,
                                    const CUmemAllocationProp* wanted, unsigned long long) {
  if (!dry_run().has(wanted->location.id)) return CUDA_ERROR_INVALID_DEVICE;
  const auto bytes = static_cast<std::int64_t>(size);
  Device& device = device_with_memory(wanted->location.id);
  const bool is_taken = device.memory.take(bytes);
  report_device(device);
  if (!is_taken) return CUDA_ERROR_OUT_OF_MEMORY;
  *handle = chunks().add(device.index, bytes);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  chunks().release(handle);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuMemMap(CUdeviceptr, std::size_t, std::size_t,
                                 CUmemGenericAllocationHandle, unsigned long long) {
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuMemUnmap(CUdeviceptr, std::size_t) {
  dry_run().timeline.synchronize_device();
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuMemSetAccess(CUdeviceptr, std::size_t, const CUmemAccessDesc*,
                                       std::size_t) {
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute,
                                              CUdeviceptr pointer) {
  const Device* owner = dry_run().owner(reinterpret_cast<void*>(pointer));
  if (owner == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(data) = owner->index;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(data) = CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(data) = pointer;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(data) = primary_context(owner->index);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

/// The compiler asks for a table of functions that no header declares; it does without.
HEADROOM_ENTRY CUresult cuGetExportTable(const void** table, const CUuuid*) {
  *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

HEADROOM_ENTRY CUresult cuModuleLoadData(CUmodule* module, const void*) {
  *module = new_handle<CUmodule>();
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuModuleLoad(CUmodule* module, const char*) {
  return cuModuleLoadData(module, /*image=*/nullptr);
}

HEADROOM_ENTRY CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned,
                                           CUjit_option*, void**) {
  return cuModuleLoadData(module, image);
}

HEADROOM_ENTRY CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }

HEADROOM_ENTRY CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char*) {
  *function = new_handle<CUfunction>();
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

HEADROOM_ENTRY CUresult cuLaunchKernel(CUfunction, unsigned grid_x, unsigned grid_y,
                                       unsigned grid_z, unsigned block_x, unsigned block_y,
                                       unsigned block_z, unsigned, CUstream stream, void**,
                                       void**) {
  const std::int64_t blocks = std::int64_t{1} * grid_x * grid_y * grid_z;
  const std::int64_t threads = blocks * block_x * block_y * block_z;
  run_work(stream, memory_work(dry_run().gpu, kBytesPerThread * threads));
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void**,
                                         void**) {
  return cuLaunchKernel(function, config->gridDimX, config->gridDimY, config->gridDimZ,
                        config->blockDimX, config->blockDimY, config->blockDimZ,
                        config->sharedMemBytes, config->hStream, nullptr, nullptr);
}

HEADROOM_ENTRY CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t,
                                               void*, const cuuint64_t*, const cuuint64_t*,
                                               const cuuint32_t*, const cuuint32_t*,
                                               CUtensorMapInterleave, CUtensorMapSwizzle,
                                               CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  *map = {};
  return CUDA_SUCCESS;
}

}  // namespace headroom::dry_run
