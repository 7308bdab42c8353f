// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

// Work and copies beside the computation: on CUDA on streams of their own.
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

/// Work beside the computation: on CUDA a stream of its own, on the CPU nothing, where all is done
/// in the order in which it is asked for.
class SideStream {
 public:
  explicit SideStream(at::Device device);
  ~SideStream();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  /// Makes the side stream the current one: what is asked for, and allocated, is its own.
  class Scope {
   public:
    explicit Scope(const SideStream& side);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    struct Guard;
    std::unique_ptr<Guard> guard_;  // empty on the CPU
  };

  /// The side stream waits for all that the current stream was given so far.
  void follow_current() const;
  /// The side stream waits for all that another one was given so far.
  void follow(const SideStream& other) const;
  /// The current stream waits for all that the side stream was given so far.
  void join() const;
  /// The allocator gives the tensor's memory to nobody else until the side stream is done with it.
  void keep(const at::Tensor& tensor) const;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;  // empty on the CPU
};

/// The allocator gives the tensor's memory to nobody else until the current stream is done with it.
void keep_for_current_stream(const at::Tensor& tensor);

/// A point in the order of the current stream; none on the CPU, where it has passed.
class StreamPoint {
 public:
  /// The point behind all that the device's current stream was given so far.
  explicit StreamPoint(at::Device device);
  /// The host waits for it.
  void wait() const;
  /// The current stream waits for it.
  void join() const;

 private:
  struct Event;
  std::shared_ptr<Event> event_;  // empty on the CPU
};

}  // namespace headroom
