// SPDX-License-Identifier: Apache-2.0
// libcuda: what PyTorch asks of the driver past cudart. It finds these through
// cudaGetDriverEntryPointByVersion, or by opening libcuda.so.1, which this library's name is.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/mman.h>

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

/// A function by its name without the version, of which the newest is given.
HEADROOM_ENTRY CUresult cuGetProcAddress(const char* name, void** function, int, cuuint64_t,
                                         CUdriverProcAddressQueryResult* result) {
  *function = nullptr;
  for (const char* version : {"_v4", "_v3", "_v2", ""}) {
    if (*function == nullptr)
      *function = dlsym(RTLD_DEFAULT, (std::string(name) + version).c_str());
  }
  const bool is_found = *function != nullptr;
  if (result != nullptr) {
    *result = is_found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return is_found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
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

/// For another process, a descriptor: nothing lies behind it.
HEADROOM_ENTRY CUresult cuMemExportToShareableHandle(void* shared, CUmemGenericAllocationHandle,
                                                     CUmemAllocationHandleType type,
                                                     unsigned long long) {
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  const int descriptor = memfd_create("headroom-shared-memory", MFD_CLOEXEC);
  if (descriptor < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  *static_cast<int*>(shared) = descriptor;
  return CUDA_SUCCESS;
}

/// Memory of another process is counted there.
HEADROOM_ENTRY CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void*,
                                                       CUmemAllocationHandleType) {
  *handle = chunks().add(device_with_context().index, /*bytes=*/0);
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

HEADROOM_ENTRY CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t,
                                               void*, const cuuint64_t*, const cuuint64_t*,
                                               const cuuint32_t*, const cuuint32_t*,
                                               CUtensorMapInterleave, CUtensorMapSwizzle,
                                               CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  *map = {};
  return CUDA_SUCCESS;
}

}  // namespace headroom::dry_run
