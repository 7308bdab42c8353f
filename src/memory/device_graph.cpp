// SPDX-License-Identifier: Apache-2.0
#include "src/memory/device_graph.h"

#ifdef HEADROOM_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>

#include "src/memory/device_memory.h"
#else
#include "src/core/error.h"
#endif

namespace headroom {

#ifdef HEADROOM_CUDA

struct DeviceGraph::Graph {
  at::cuda::CUDAGraph graph;
};

DeviceGraph::DeviceGraph() : graph_(std::make_unique<Graph>()) {}

void DeviceGraph::record(const std::function<void()>& work) {
  c10::cuda::device_synchronize();
  give_back_unused(at::kCUDA);
  // Threads that load data may ask CUDA for what they like meanwhile.
  graph_->graph.capture_begin(/*pool=*/{0, 0}, cudaStreamCaptureModeThreadLocal);
  work();
  graph_->graph.capture_end();
}

void DeviceGraph::launch() { graph_->graph.replay(); }

#else

struct DeviceGraph::Graph {};

DeviceGraph::DeviceGraph() = default;
void DeviceGraph::record(const std::function<void()>&) {
  throw Unsupported("this LibTorch has no CUDA graphs");
}
void DeviceGraph::launch() {}

#endif

DeviceGraph::~DeviceGraph() = default;

}  // namespace headroom
