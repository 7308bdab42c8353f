// SPDX-License-Identifier: Apache-2.0
// cudart: the properties of devices, errors, versions.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/torch_library.h"
#include "src/dry_run/visible_devices.h"

namespace headroom::dry_run {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

// Limits that all GPUs of the table share (CUDA Programming Guide, "Technical Specifications per
// Compute Capability").
constexpr int kThreadsPerBlock = 1024;
constexpr int kWarp = 32;
constexpr int kMaxGridX = 2147483647;
constexpr int kMaxGridYZ = 65535;
constexpr int kMaxBlockZ = 64;
constexpr int kConstantBytes = 65536;
constexpr int kTextureAlignment = 512;

// What a kernel of average size uses; the real figure is in its binary, which is not read.
constexpr int kRegistersPerThread = 32;

int blocks_per_multiprocessor(const Gpu& gpu, int threads_per_block) {
  const int threads = std::max(kWarp, threads_per_block);
  const int by_threads = gpu.capability.max_threads_per_multiprocessor / threads;
  const int by_registers =
      gpu.capability.registers_per_multiprocessor / (kRegistersPerThread * threads);
  return std::max(
      1, std::min({by_threads, by_registers, gpu.capability.max_blocks_per_multiprocessor}));
}

/// The words of cudart itself, by its function of that name.
const char* cudart_text(const char* function, cudaError_t error) {
  void* library = loaded_library("libcudart");
  using Text = const char* (*)(cudaError_t);
  const auto text = library == nullptr ? nullptr : reinterpret_cast<Text>(dlsym(library, function));
  return text == nullptr ? "an error of CUDA's" : text(error);
}

/// An error that the dry run never gives comes from a function of CUDA's that was called past it.
void note_foreign_error(cudaError_t error) {
  constexpr std::array kOwn = {cudaSuccess,
                               cudaErrorInvalidValue,
                               cudaErrorMemoryAllocation,
                               cudaErrorInvalidDevice,
                               cudaErrorNotReady,
                               cudaErrorStreamCaptureUnsupported,
                               cudaErrorStreamCaptureInvalidated,
                               cudaErrorCapturedEvent};
  if (std::ranges::find(kOwn, error) != kOwn.end()) return;
  note_not_modelled("what gave " + std::string(cudaGetErrorName(error)) + " (error " +
                    std::to_string(error) + ")");
}

}  // namespace

cudaError_t fail(cudaError_t error) {
  last_error = error;
  return error;
}

HEADROOM_ENTRY cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
HEADROOM_ENTRY cudaError_t cudaPeekAtLastError() { return last_error; }

HEADROOM_ENTRY const char* cudaGetErrorName(cudaError_t error) {
  return cudart_text("cudaGetErrorName", error);
}

HEADROOM_ENTRY const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorInvalidDevice) {
    return "invalid device ordinal: 'headroom plan --ranks N -- PROGRAM' plays N devices";
  }
  if (error == cudaErrorNoDevice) {
    return "no CUDA-capable device is detected: CUDA_VISIBLE_DEVICES hides them all";
  }
  note_foreign_error(error);
  return cudart_text("cudaGetErrorString", error);
}

HEADROOM_ENTRY cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const DryRun& run = dry_run();
  if (!run.has(device)) return fail(cudaErrorInvalidDevice);
  const Device& asked = run.devices[static_cast<std::size_t>(device)];
  const Gpu& gpu = run.gpu;
  const Capability& limits = gpu.capability;
  *properties = {};
  cudaDeviceProp& p = *properties;
  std::snprintf(p.name, sizeof(p.name), "%s", gpu.product);
  p.totalGlobalMem = static_cast<std::size_t>(asked.memory.total());
  p.major = limits.major;
  p.minor = limits.minor;
  p.pciBusID = asked.number;
  const auto uuid = device_uuid(asked.number);
  std::memcpy(&p.uuid, uuid.data(), uuid.size());
  p.multiProcessorCount = gpu.multiprocessors;
  p.maxThreadsPerMultiProcessor = limits.max_threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = limits.max_blocks_per_multiprocessor;
  p.maxThreadsPerBlock = kThreadsPerBlock;
  p.warpSize = kWarp;
  p.regsPerBlock = limits.registers_per_multiprocessor;
  p.regsPerMultiprocessor = limits.registers_per_multiprocessor;
  p.sharedMemPerBlock = kSharedMemoryPerBlockBytes;
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(limits.shared_memory_per_block_optin_bytes);
  p.sharedMemPerMultiprocessor =
      static_cast<std::size_t>(limits.shared_memory_per_multiprocessor_bytes);
  p.l2CacheSize = static_cast<int>(gpu.l2_bytes);
  p.memoryBusWidth = gpu.memory_bus_bits;
  p.totalConstMem = kConstantBytes;
  p.textureAlignment = kTextureAlignment;
  p.unifiedAddressing = 1;
  p.concurrentKernels = 1;
  p.asyncEngineCount = 2;
  std::copy_n(std::begin({kThreadsPerBlock, kThreadsPerBlock, kMaxBlockZ}), 3, p.maxThreadsDim);
  std::copy_n(std::begin({kMaxGridX, kMaxGridYZ, kMaxGridYZ}), 3, p.maxGridSize);
  return cudaSuccess;
}

namespace {

int value_of(cudaDeviceAttr attribute, const cudaDeviceProp& p) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      return p.major;
    case cudaDevAttrComputeCapabilityMinor:
      return p.minor;
    case cudaDevAttrMultiProcessorCount:
      return p.multiProcessorCount;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimZ:
      return kMaxBlockZ;
    case cudaDevAttrMaxGridDimX:
      return kMaxGridX;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return kMaxGridYZ;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrWarpSize:
      return p.warpSize;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return static_cast<int>(p.sharedMemPerBlock);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(p.sharedMemPerBlockOptin);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(p.sharedMemPerMultiprocessor);
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return p.regsPerMultiprocessor;
    case cudaDevAttrL2CacheSize:
      return p.l2CacheSize;
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
      return 1;
    default:  // what else can be asked is a feature, and this device lacks it
      return 0;
  }
}

}  // namespace

HEADROOM_ENTRY cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                                  int device) {
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device)) return error;
  *value = value_of(attribute, properties);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaDeviceSynchronize() {
  if (timeline_with_context().breaks_capture_of_device()) {
    return fail(cudaErrorStreamCaptureUnsupported);
  }
  timeline_with_context().synchronize_device();
  return cudaSuccess;
}

// A profiler that is attached sees the host's part alone. (Their header is not among the wheels.)
HEADROOM_ENTRY cudaError_t cudaProfilerStart() { return cudaSuccess; }
HEADROOM_ENTRY cudaError_t cudaProfilerStop() { return cudaSuccess; }

/// As of PyTorch's kernels. By what they were compiled for, some find out which of them there are:
/// CUB's sort, for one.
HEADROOM_ENTRY cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  const Capability& capability = dry_run().gpu.capability;
  *attributes = {};
  attributes->ptxVersion = torch_architecture(capability.major * 10 + capability.minor);
  attributes->binaryVersion = attributes->ptxVersion;
  attributes->maxThreadsPerBlock = kThreadsPerBlock;
  attributes->numRegs = kRegistersPerThread;
  attributes->maxDynamicSharedSizeBytes = kSharedMemoryPerBlockBytes;
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*,
                                                                         int threads, std::size_t) {
  *blocks = blocks_per_multiprocessor(dry_run().gpu, threads);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void*, int threads, std::size_t, unsigned) {
  *blocks = blocks_per_multiprocessor(dry_run().gpu, threads);
  return cudaSuccess;
}

}  // namespace headroom::dry_run
