// SPDX-License-Identifier: Apache-2.0
// cudart: streams and events; then graphs, as far as memory needs them. A graph is what its nodes
// take.
#include <cuda_runtime_api.h>

#include <memory>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/torch_library.h"

namespace headroom::dry_run {
namespace {

constexpr int kHighestPriority = -5;  // as on all GPUs since compute capability 7.0

const Capture* capture_of(cudaGraph_t graph) { return reinterpret_cast<const Capture*>(graph); }

}  // namespace

HEADROOM_ENTRY cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = kHighestPriority;
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = timeline_with_context().make_stream(/*priority=*/0);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned,
                                                        int priority) {
  *stream = timeline_with_context().make_stream(priority);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}

HEADROOM_ENTRY cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  timeline_with_context().drop_stream(stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  *priority = timeline_with_context().priority(stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (timeline_with_context().breaks_capture(stream)) {
    return fail(cudaErrorStreamCaptureUnsupported);
  }
  timeline_with_context().synchronize(stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (timeline_with_context().breaks_capture(stream)) {
    return fail(cudaErrorStreamCaptureUnsupported);
  }
  return timeline_with_context().is_idle(stream) ? cudaSuccess : fail(cudaErrorNotReady);
}

HEADROOM_ENTRY cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  timeline_with_context().wait(stream, event);
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
  *event = timeline_with_context().make_event();
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}

HEADROOM_ENTRY cudaError_t cudaEventDestroy(cudaEvent_t event) {
  timeline_with_context().drop_event(event);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  timeline_with_context().record(event, stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                    unsigned) {
  return cudaEventRecord(event, stream);
}

/// PyTorch's allocator asks with each block that it gives, for those that other streams still use.
/// It waits for none, however often it asks: a program may take a whole model and queue nothing.
HEADROOM_ENTRY cudaError_t cudaEventQuery(cudaEvent_t event) {
  const bool looks_on = is_of_torch_allocator(__builtin_return_address(0));
  if (timeline_with_context().breaks_capture(event)) return fail(cudaErrorCapturedEvent);
  return timeline_with_context().is_over(event, looks_on) ? cudaSuccess : fail(cudaErrorNotReady);
}

HEADROOM_ENTRY cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (timeline_with_context().breaks_capture(event)) return fail(cudaErrorCapturedEvent);
  timeline_with_context().synchronize(event);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from,
                                                cudaEvent_t to) {
  *milliseconds = static_cast<float>(timeline_with_context().elapsed_ns(from, to)) * 1e-6F;
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                                 cudaStreamCaptureStatus* status) {
  const Capture* capture = timeline_with_context().capture_of(stream);
  *status = capture == nullptr   ? cudaStreamCaptureStatusNone
            : capture->is_broken ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t*,
    const cudaGraphNode_t**, const cudaGraphEdgeData**, std::size_t* dependencies) {
  const Capture* capture = timeline_with_context().capture_of(stream);
  if (id != nullptr) *id = capture == nullptr ? 0 : capture->id;
  if (dependencies != nullptr) *dependencies = 0;
  return cudaStreamIsCapturing(stream, status);
}

HEADROOM_ENTRY cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  std::swap(*mode, current);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  timeline_with_context().begin_capture(stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  std::unique_ptr<Capture> capture(timeline_with_context().end_capture(stream));
  *graph = nullptr;
  if (!capture) return fail(cudaErrorInvalidValue);
  if (capture->is_broken) return fail(cudaErrorStreamCaptureInvalidated);
  *graph = reinterpret_cast<cudaGraph_t>(capture.release());
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*,
                                             std::size_t* count) {
  *count = static_cast<std::size_t>(capture_of(graph)->nodes);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable,
                                                         cudaGraph_t graph, unsigned long long) {
  *executable = reinterpret_cast<cudaGraphExec_t>(new Capture(*capture_of(graph)));
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

HEADROOM_ENTRY cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const auto* capture = reinterpret_cast<const Capture*>(executable);
  run_work(stream, capture->work);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete capture_of(graph);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete reinterpret_cast<const Capture*>(executable);
  return cudaSuccess;
}

}  // namespace headroom::dry_run
