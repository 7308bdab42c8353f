// SPDX-License-Identifier: Apache-2.0
// cuFFT. What a plan works in is as cuFFT told it of others: fourier_work.h.
#include <cufftXt.h>

#include <map>
#include <mutex>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/fourier_work.h"

namespace headroom::dry_run {
namespace {

struct Transform {
  cudaStream_t stream = nullptr;
  std::int64_t bytes = 0;  // of all points, as complex numbers
};

/// cuFFT's handles are numbers.
struct Transforms {
  std::mutex mutex;
  std::map<cufftHandle, Transform> list;
  cufftHandle last = 0;
};

Transforms& transforms() {
  static auto& all = *new Transforms;
  return all;
}

template <typename Change>
cufftResult with_transform(cufftHandle handle, const Change& change) {
  const std::lock_guard lock(transforms().mutex);
  const auto found = transforms().list.find(handle);
  if (found == transforms().list.end()) return CUFFT_INVALID_PLAN;
  change(found->second);
  return CUFFT_SUCCESS;
}

std::int64_t complex_bytes(cudaDataType type) {
  switch (type) {
    case CUDA_R_64F:
    case CUDA_C_64F:
      return 16;
    case CUDA_R_16F:
    case CUDA_C_16F:
    case CUDA_R_16BF:
    case CUDA_C_16BF:
      return 4;
    default:
      return 8;
  }
}

bool is_real(cudaDataType type) {
  return type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_32F || type == CUDA_R_64F;
}

}  // namespace

HEADROOM_ENTRY cufftResult cufftCreate(cufftHandle* handle) {
  const std::lock_guard lock(transforms().mutex);
  *handle = ++transforms().last;
  transforms().list[*handle];
  return CUFFT_SUCCESS;
}

HEADROOM_ENTRY cufftResult cufftDestroy(cufftHandle handle) {
  const std::lock_guard lock(transforms().mutex);
  return transforms().list.erase(handle) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

/// PyTorch gives each plan memory of its own allocator.
HEADROOM_ENTRY cufftResult cufftSetAutoAllocation(cufftHandle, int allocates) {
  if (allocates != 0) not_modelled("cufftSetAutoAllocation(1)");
  return CUFFT_SUCCESS;
}

HEADROOM_ENTRY cufftResult cufftXtMakePlanMany(cufftHandle handle, int rank, long long* sizes,
                                               long long*, long long, long long, cudaDataType input,
                                               long long*, long long, long long,
                                               cudaDataType output, long long batch,
                                               std::size_t* work_bytes, cudaDataType execution) {
  const FourierPlan plan{.complex_bytes = complex_bytes(execution),
                         .is_real = is_real(input) || is_real(output),
                         .transforms = batch,
                         .sizes = {sizes, sizes + rank}};
  std::int64_t points = batch;
  for (const std::int64_t size : plan.sizes) points *= size;
  *work_bytes = static_cast<std::size_t>(fourier_work_bytes(plan));
  note_estimated("cuFFT");
  const std::int64_t bytes = points * plan.complex_bytes;
  return with_transform(handle, [&](Transform& transform) { transform.bytes = bytes; });
}

HEADROOM_ENTRY cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  return with_transform(handle, [&](Transform& transform) { transform.stream = stream; });
}

HEADROOM_ENTRY cufftResult cufftSetWorkArea(cufftHandle handle, void*) {
  return with_transform(handle, [](const Transform&) {});
}

/// Reads the points and writes them.
HEADROOM_ENTRY cufftResult cufftXtExec(cufftHandle handle, void*, void*, int) {
  Transform transform;
  const cufftResult result = with_transform(handle, [&](const Transform& one) { transform = one; });
  if (result != CUFFT_SUCCESS) return result;
  run_work(transform.stream, memory_work(dry_run().gpu, {2 * transform.bytes}));
  return CUFFT_SUCCESS;
}

}  // namespace headroom::dry_run
