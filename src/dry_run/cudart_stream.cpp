// SPDX-License-Identifier: Apache-2.0
// cudart: streams and events.
#include <cuda_runtime_api.h>

#include "src/dry_run/cudart_error.h"
#include "src/dry_run/dry_run.h"

using namespace headroom::dry_run;

namespace {

constexpr int kHighestPriority = -5;  // as on all GPUs since compute capability 7.0

Timeline& timeline() { return dry_run_with_context().timeline; }

}  // namespace

HEADROOM_ENTRY cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = kHighestPriority;
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = timeline().make_stream(/*priority=*/0);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned,
                                                        int priority) {
  *stream = timeline().make_stream(priority);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  timeline().drop_stream(stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  *priority = timeline().priority(stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  timeline().synchronize(stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return timeline().is_idle(stream) ? cudaSuccess : fail(cudaErrorNotReady);
}

HEADROOM_ENTRY cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  timeline().wait(stream, event);
  return cudaSuccess;
}

// The host's part of a stream's work is real, and done at once: what it waits for has no result.
HEADROOM_ENTRY cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                                 void* data, unsigned) {
  callback(stream, cudaSuccess, data);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  function(data);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = timeline().make_event();
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}

HEADROOM_ENTRY cudaError_t cudaEventDestroy(cudaEvent_t event) {
  timeline().drop_event(event);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  timeline().record(event, stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                    unsigned) {
  return cudaEventRecord(event, stream);
}

HEADROOM_ENTRY cudaError_t cudaEventQuery(cudaEvent_t event) {
  return timeline().is_over(event) ? cudaSuccess : fail(cudaErrorNotReady);
}

HEADROOM_ENTRY cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  timeline().synchronize(event);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from,
                                                cudaEvent_t to) {
  *milliseconds = static_cast<float>(timeline().elapsed_ns(from, to)) * 1e-6F;
  return cudaSuccess;
}
