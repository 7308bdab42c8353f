// SPDX-License-Identifier: Apache-2.0
// libcuda: memory, streams and events by the driver's functions, for programs that use no cudart:
// Triton's launchers, numba, PyCUDA. They are cudart's by other names, and the errors that both
// give have the same numbers.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <bit>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

CUresult result_of(cudaError_t error) { return static_cast<CUresult>(error); }

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace

HEADROOM_ENTRY CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return result_of(cudaMemGetInfo(free, total));
}

HEADROOM_ENTRY CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return result_of(cudaMalloc(reinterpret_cast<void**>(address), bytes));
}

HEADROOM_ENTRY CUresult cuMemFree(CUdeviceptr address) {
  return result_of(cudaFree(pointer(address)));
}

HEADROOM_ENTRY CUresult cuMemGetAddressRange(CUdeviceptr* begin, std::size_t* bytes,
                                             CUdeviceptr address) {
  const Device* owner = dry_run().owner(pointer(address));
  const auto found =
      owner == nullptr ? std::nullopt : owner->memory.allocation_of(pointer(address));
  if (!found) return CUDA_ERROR_NOT_FOUND;
  if (begin != nullptr) *begin = found->begin;
  if (bytes != nullptr) *bytes = static_cast<std::size_t>(found->bytes);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return result_of(cudaMallocAsync(reinterpret_cast<void**>(address), bytes, stream));
}

HEADROOM_ENTRY CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return result_of(cudaFreeAsync(pointer(address), stream));
}

HEADROOM_ENTRY CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return result_of(
      cudaIpcGetMemHandle(reinterpret_cast<cudaIpcMemHandle_t*>(handle), pointer(address)));
}

HEADROOM_ENTRY CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle,
                                           unsigned flags) {
  return result_of(cudaIpcOpenMemHandle(reinterpret_cast<void**>(address),
                                        std::bit_cast<cudaIpcMemHandle_t>(handle), flags));
}

HEADROOM_ENTRY CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return result_of(cudaIpcCloseMemHandle(pointer(address)));
}

HEADROOM_ENTRY CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return result_of(cudaIpcGetEventHandle(reinterpret_cast<cudaIpcEventHandle_t*>(handle), event));
}

HEADROOM_ENTRY CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return result_of(cudaIpcOpenEventHandle(event, std::bit_cast<cudaIpcEventHandle_t>(handle)));
}

HEADROOM_ENTRY CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  return result_of(cudaHostAlloc(address, bytes, flags));
}

HEADROOM_ENTRY CUresult cuMemAllocHost(void** address, std::size_t bytes) {
  return cuMemHostAlloc(address, bytes, /*flags=*/0);
}

HEADROOM_ENTRY CUresult cuMemFreeHost(void* address) { return result_of(cudaFreeHost(address)); }

HEADROOM_ENTRY CUresult cuMemHostRegister(void* address, std::size_t bytes, unsigned flags) {
  return result_of(cudaHostRegister(address, bytes, flags));
}

HEADROOM_ENTRY CUresult cuMemHostUnregister(void* address) {
  return result_of(cudaHostUnregister(address));
}

/// Addresses are the same on the device (CUDA Driver API, "Unified Addressing").
HEADROOM_ENTRY CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* host, unsigned) {
  *device = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return result_of(cudaMallocManaged(reinterpret_cast<void**>(address), bytes, flags));
}

HEADROOM_ENTRY CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return result_of(cudaMemcpy(pointer(to), from, bytes, cudaMemcpyHostToDevice));
}

HEADROOM_ENTRY CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return result_of(cudaMemcpy(to, pointer(from), bytes, cudaMemcpyDeviceToHost));
}

HEADROOM_ENTRY CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return result_of(cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice));
}

HEADROOM_ENTRY CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes,
                                          CUstream stream) {
  return result_of(cudaMemcpyAsync(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream));
}

HEADROOM_ENTRY CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes,
                                          CUstream stream) {
  return result_of(cudaMemcpyAsync(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream));
}

HEADROOM_ENTRY CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                          CUstream stream) {
  return result_of(
      cudaMemcpyAsync(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, stream));
}

HEADROOM_ENTRY CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return result_of(cudaMemset(pointer(to), value, count));
}

HEADROOM_ENTRY CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                        CUstream stream) {
  return result_of(cudaMemsetAsync(pointer(to), value, count, stream));
}

HEADROOM_ENTRY CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return result_of(cudaStreamCreateWithFlags(stream, flags));
}

HEADROOM_ENTRY CUresult cuStreamDestroy(CUstream stream) {
  return result_of(cudaStreamDestroy(stream));
}

HEADROOM_ENTRY CUresult cuStreamSynchronize(CUstream stream) {
  return result_of(cudaStreamSynchronize(stream));
}

HEADROOM_ENTRY CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return result_of(cudaStreamWaitEvent(stream, event, flags));
}

HEADROOM_ENTRY CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                                            unsigned flags) {
  return result_of(
      cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), data, flags));
}

HEADROOM_ENTRY CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return result_of(cudaEventCreateWithFlags(event, flags));
}

HEADROOM_ENTRY CUresult cuEventDestroy(CUevent event) { return result_of(cudaEventDestroy(event)); }

HEADROOM_ENTRY CUresult cuEventRecord(CUevent event, CUstream stream) {
  return result_of(cudaEventRecord(event, stream));
}

HEADROOM_ENTRY CUresult cuEventQuery(CUevent event) { return result_of(cudaEventQuery(event)); }

HEADROOM_ENTRY CUresult cuEventSynchronize(CUevent event) {
  return result_of(cudaEventSynchronize(event));
}

HEADROOM_ENTRY CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return result_of(cudaEventElapsedTime(milliseconds, begin, end));
}

#undef cuEventElapsedTime  // the name before CUDA 12.8
HEADROOM_ENTRY CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, begin, end);
}

HEADROOM_ENTRY CUresult cuCtxSynchronize() { return result_of(cudaDeviceSynchronize()); }

}  // namespace headroom::dry_run
