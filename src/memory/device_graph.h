// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

namespace headroom {

/// Work of a CUDA device that is recorded once and launched as one piece (CUDA graphs). What it
/// allocates while it is recorded lies in a pool of its own, and stays there as long as the graph
/// lives: each launch writes to the same addresses, whether tensors still hold them or not.
class DeviceGraph {
 public:
  DeviceGraph();
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  /// Records what `work` asks of the current stream, which must not be the default one. Nothing
  /// runs. Memory that the allocator holds unused goes back to the device first: the pool can't use
  /// it. `work` may not wait for the device; then CUDA's error is thrown.
  void record(const std::function<void()>& work);
  /// On the current stream.
  void launch();

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace headroom
