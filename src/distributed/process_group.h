// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/memory/streams.h"

namespace c10d {
class ProcessGroup;
class Work;
}  // namespace c10d

namespace headroom {

/// Which of the processes that train together this one is, and where they meet.
struct Membership {
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  /// A file, absolute, that no earlier group has used; empty: they meet at `store_host`.
  std::string store{};
  /// The machine of rank 0, which serves the store on this port; empty as well: the others never
  /// come, since they are played by a dry run.
  std::string store_host{};
  int store_port = 0;
  /// The IP address of this machine by which the others reach it; empty: all are on this machine.
  std::string address{};
  std::string attempt{};  // which try of the case this is: the same for its ranks, and no others
};

enum class CollectiveBackend {
  automatic,  // nccl on CUDA, gloo on the CPU
  gloo,       // on CUDA by way of the host; ranks may share a GPU
  nccl,
  // As PyTorch had it before 2.8 (its pull request 150398): the allocator is told by record_stream
  // what NCCL works on, and can't use that memory again before the host has seen NCCL's stream get
  // there. Today such tensors are kept alive until somebody waits.
  nccl_torch_2_7,
};

/// A collective failed, most often since another rank is gone: that rank knows why.
class PeerLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Calls what may talk to other ranks, and turns the errors of their libraries into PeerLost, or
/// c10::OutOfMemoryError where NCCL has no room on the device.
void with_peers(const std::function<void()>& call);

/// A collective that may still run. It keeps its tensors alive until it is waited for.
class Collective {
 public:
  using Works = std::vector<c10::intrusive_ptr<c10d::Work>>;

  Collective();  // one that is done
  /// `then`: what is left to do when all works are done.
  explicit Collective(Works works, std::function<void()> then = {});
  ~Collective();
  Collective(Collective&&) noexcept;
  Collective& operator=(Collective&&) noexcept;

  /// The same, and `next` behind it.
  Collective then(std::function<void()> next) &&;
  /// On the CPU, and with gloo, the host waits; with NCCL the current stream does.
  /// Throws PeerLost.
  void wait();

 private:
  Works works_;
  std::function<void()> then_;
};

/// The ranks that train together. Every rank calls the same collectives in the same order; all
/// tensors are contiguous and of one dtype, on the group's device. On CUDA a collective begins
/// after all that the current stream was given so far.
///
/// No collective allocates on the device. LibTorch's own for gloo do, on a thread of theirs,
/// whenever that comes to it, so that a peak would depend on the moment: here an all-gather by gloo
/// is a broadcast from each rank, and a reduce-scatter, which gloo has not, an all-reduce.
class ProcessGroup {
 public:
  /// Waits for all ranks. Throws PeerLost, or Unsupported where the backend can't serve the device.
  ProcessGroup(const Membership& membership, at::Device device, CollectiveBackend backend);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  std::int64_t rank() const { return rank_; }
  std::int64_t ranks() const { return ranks_; }
  at::Device device() const { return device_; }

  /// (n) of each rank -> `all`, (ranks * n), in the order of ranks.
  Collective all_gather(const at::Tensor& all, const at::Tensor& part);
  /// `all`, (ranks * n), summed over ranks -> `part`, (n), of which rank r gets the r-th. What is
  /// in `all` is lost.
  Collective reduce_scatter(const at::Tensor& part, const at::Tensor& all);
  /// Sums over ranks, in place.
  Collective all_reduce(const at::Tensor& values);

  /// Sums a small tensor over ranks in place, wherever it lies, and waits.
  void sum(at::Tensor& values);

  /// Says of an all-reduce of so many bytes that LibTorch did on its own with this group.
  void count_all_reduce(std::int64_t bytes) { sent_bytes_ += 2 * (ranks_ - 1) * bytes / ranks_; }
  /// Bytes that this rank has to send at least for what was asked of it so far.
  std::int64_t sent_bytes() const { return sent_bytes_; }
  /// For what LibTorch itself does with a group.
  const c10::intrusive_ptr<c10d::ProcessGroup>& of_libtorch() const { return group_; }

 private:
  /// Begins what `call` asks LibTorch to do with `tensors`.
  Collective::Works begin(const std::vector<at::Tensor>& tensors,
                          const std::function<Collective::Works()>& call) const;

  std::int64_t rank_;
  std::int64_t ranks_;
  at::Device device_;
  bool uses_nccl_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  std::optional<SideStream> nccl_stream_;  // of nccl_torch_2_7
  std::int64_t sent_bytes_ = 0;
};

}  // namespace headroom
