// SPDX-License-Identifier: Apache-2.0
// cudart as CUDA 12 has it, where CUDA 13 has another symbol or another structure: after NVIDIA's
// "CUDA Runtime API" of 12.1 to 12.8, in which these do not differ.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

/// cudaDeviceProp of CUDA 12. Runs of members that the dry run leaves at 0 are one array here.
struct DeviceProperties12 {
  char name[256];
  char identity[16 + 8];  // uuid, luid
  unsigned luid_device_node_mask;
  std::size_t total_global_mem;
  std::size_t shared_mem_per_block;
  int regs_per_block;
  int warp_size;
  std::size_t mem_pitch;
  int max_threads_per_block;
  int max_threads_dim[3];
  int max_grid_size[3];
  int clock_rate;
  std::size_t total_const_mem;
  int major;
  int minor;
  std::size_t texture_alignment;
  std::size_t texture_pitch_alignment;
  int device_overlap;
  int multiprocessor_count;
  int kernel_timeout_to_compute_mode[4];
  int textures_and_surfaces[40];
  std::size_t surface_alignment;
  int concurrent_kernels;
  int ecc_to_tcc_driver[5];
  int async_engine_count;
  int unified_addressing;
  int memory_clock_rate;
  int memory_bus_width;
  int l2_cache_size;
  int persisting_l2_cache_max_size;
  int max_threads_per_multiprocessor;
  int stream_priorities_and_l1[3];
  std::size_t shared_mem_per_multiprocessor;
  int regs_per_multiprocessor;
  int managed_memory_to_multi_device_launch[11];
  std::size_t shared_mem_per_block_optin;
  int page_tables_and_host_access[2];
  int max_blocks_per_multiprocessor;
  int access_policy_max_window_size;
  std::size_t reserved_shared_mem_per_block;
  int features_and_reserved[76];
};
static_assert(sizeof(DeviceProperties12) == 1032);
static_assert(offsetof(DeviceProperties12, multiprocessor_count) == 388);
static_assert(offsetof(DeviceProperties12, memory_bus_width) == 612);
static_assert(offsetof(DeviceProperties12, shared_mem_per_block_optin) == 696);

DeviceProperties12 as_in_12(const cudaDeviceProp& now) {
  DeviceProperties12 p{};
  std::ranges::copy(now.name, p.name);
  p.total_global_mem = now.totalGlobalMem;
  p.shared_mem_per_block = now.sharedMemPerBlock;
  p.regs_per_block = now.regsPerBlock;
  p.warp_size = now.warpSize;
  p.max_threads_per_block = now.maxThreadsPerBlock;
  std::ranges::copy(now.maxThreadsDim, p.max_threads_dim);
  std::ranges::copy(now.maxGridSize, p.max_grid_size);
  p.total_const_mem = now.totalConstMem;
  p.major = now.major;
  p.minor = now.minor;
  p.texture_alignment = now.textureAlignment;
  p.multiprocessor_count = now.multiProcessorCount;
  p.concurrent_kernels = now.concurrentKernels;
  p.async_engine_count = now.asyncEngineCount;
  p.unified_addressing = now.unifiedAddressing;
  p.memory_bus_width = now.memoryBusWidth;
  p.l2_cache_size = now.l2CacheSize;
  p.max_threads_per_multiprocessor = now.maxThreadsPerMultiProcessor;
  p.shared_mem_per_multiprocessor = now.sharedMemPerMultiprocessor;
  p.regs_per_multiprocessor = now.regsPerMultiprocessor;
  p.shared_mem_per_block_optin = now.sharedMemPerBlockOptin;
  p.max_blocks_per_multiprocessor = now.maxBlocksPerMultiProcessor;
  return p;
}

}  // namespace

HEADROOM_ENTRY cudaError_t cudaGetDeviceProperties_v2(DeviceProperties12* properties, int device) {
  cudaDeviceProp now;
  const cudaError_t error = cudaGetDeviceProperties(&now, device);
  if (error == cudaSuccess) *properties = as_in_12(now);
  return error;
}

HEADROOM_ENTRY cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                                       cudaStreamCaptureStatus* status,
                                                       unsigned long long* id, cudaGraph_t* graph,
                                                       const cudaGraphNode_t** nodes,
                                                       std::size_t* dependencies) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, /*edges=*/nullptr,
                                  dependencies);
}

HEADROOM_ENTRY cudaError_t cudaGetDriverEntryPoint(const char* name, void** function,
                                                   unsigned long long flags,
                                                   cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, result);
}

}  // namespace headroom::dry_run
