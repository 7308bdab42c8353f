// SPDX-License-Identifier: Apache-2.0
// cudart: graphs, as far as memory needs them. A graph is what its nodes take.
#include <cuda_runtime_api.h>

#include "src/dry_run/cudart_error.h"
#include "src/dry_run/dry_run.h"

using namespace headroom::dry_run;

namespace {

Timeline& timeline() { return dry_run_with_context().timeline; }

const Capture* of(cudaGraph_t graph) { return reinterpret_cast<const Capture*>(graph); }

}  // namespace

HEADROOM_ENTRY cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                                 cudaStreamCaptureStatus* status) {
  *status = timeline().capture_of(stream) == nullptr ? cudaStreamCaptureStatusNone
                                                     : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t*,
    const cudaGraphNode_t**, const cudaGraphEdgeData**, std::size_t* dependencies) {
  const Capture* capture = timeline().capture_of(stream);
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
  timeline().begin_capture(stream);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = reinterpret_cast<cudaGraph_t>(timeline().end_capture(stream));
  return *graph == nullptr ? fail(cudaErrorInvalidValue) : cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*,
                                             std::size_t* count) {
  *count = static_cast<std::size_t>(of(graph)->nodes);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable,
                                                         cudaGraph_t graph, unsigned long long) {
  *executable = reinterpret_cast<cudaGraphExec_t>(new Capture(*of(graph)));
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  DryRun& device = dry_run_with_context();
  const auto* capture = reinterpret_cast<const Capture*>(executable);
  device.counters.launches += capture->nodes;
  device.timeline.run(stream, capture->ns);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete of(graph);
  return cudaSuccess;
}

HEADROOM_ENTRY cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete reinterpret_cast<const Capture*>(executable);
  return cudaSuccess;
}
