// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

namespace headroom {

/// Copies between a device and host buffers beside the computation: on CUDA on a stream of its own,
/// on the CPU at once. For use from one thread at a time.
class CopyStream {
 public:
  /// A point in the order of copies; empty on the CPU.
  class Mark {
   public:
    struct Event;
    std::shared_ptr<Event> event;
  };

  explicit CopyStream(at::Device device);
  ~CopyStream();
  CopyStream(const CopyStream&) = delete;
  CopyStream& operator=(const CopyStream&) = delete;

  /// Copies `source` into `target`, after all that the current compute stream was given so far.
  /// The allocator keeps `source` alive until the copy is done.
  Mark copy(at::Tensor target, const at::Tensor& source);
  /// The host waits until that copy is done.
  void wait(const Mark& mark) const;
  /// The current compute stream waits until all copies so far are done.
  void join() const;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;  // empty on the CPU
};

}  // namespace headroom
