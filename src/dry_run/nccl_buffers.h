// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

#include "src/dry_run/memory.h"
#include "src/gpus/gpu.h"

// What NCCL takes of a device's memory for itself, by its source (github.com/NVIDIA/nccl, 2.14 to
// 2.28). Sizes in bytes.
namespace headroom::dry_run {

/// What decides how much NCCL takes, beside the GPU and the ranks.
struct NcclSetup {
  int version = 22809;            // as ncclGetVersion() gives it: 2.28.9
  bool has_own_pages = true;      // each allocation, however small (NCCL_CUMEM_ENABLE)
  bool connects_late = true;      // what is not used yet is not connected (NCCL_RUNTIME_CONNECT)
  bool may_multicast = true;      // by NVLink's switches (NCCL_NVLS_ENABLE)
  std::int64_t buffer = 4 << 20;  // of a connection (NCCL_BUFFSIZE)
};

/// For the NCCL of that version, and this process's variables.
NcclSetup nccl_setup(int version);

/// What NCCL holds of one device, for all communicators together. Safe to call from any thread.
class NcclMemory {
 public:
  explicit NcclMemory(GpuMemory& memory) : memory_(memory) {}

  /// The first call takes the library's kernels too. False where the device has not enough.
  bool take(std::int64_t bytes);
  void give_back(std::int64_t bytes);
  std::int64_t peak_bytes() const;
  /// How often the device had not enough.
  std::int64_t refusals() const;

 private:
  GpuMemory& memory_;
  mutable std::mutex mutex_;
  bool has_kernels_ = false;
  std::int64_t bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
  std::int64_t refusals_ = 0;
};

/// What a communicator takes for one of its ranks. Connections to other machines are not counted.
/// Each call that takes memory is false where the device has not enough.
class NcclBuffers {
 public:
  /// `rank` of `ranks`, of which so many in a row are on one machine.
  NcclBuffers(NcclMemory& memory, const Gpu& gpu, const NcclSetup& setup, int ranks, int rank,
              int ranks_of_machine);
  ~NcclBuffers();
  NcclBuffers(const NcclBuffers&) = delete;
  NcclBuffers& operator=(const NcclBuffers&) = delete;

  /// As the communicator is made.
  bool initialize();
  /// Before a collective. `reduced`: the bytes of an all-reduce; 0: it is another one.
  bool connect_ranks(std::int64_t reduced);
  /// Before something is sent to another rank, or received from it.
  bool connect_to(int peer);
  bool connect_from(int peer);

 private:
  bool take(std::int64_t bytes);
  bool is_near(int peer) const;
  std::int64_t rings() const;
  std::int64_t trees() const;
  std::int64_t multicast() const;

  /// Channels have buffers of their own. So many are seen in NCCL's logs of such GPUs.
  struct Channels {
    int rings;
    int pairs;           // between ranks that send to each other
    int multicast;       // 0: the links can't
    bool by_reading;     // who receives reads where the sender's data lies
    std::int64_t chunk;  // of what is sent
  };
  static Channels channels_of(const Gpu& gpu, const NcclSetup& setup, int ranks);

  NcclMemory& memory_;
  const NcclSetup setup_;
  const int ranks_;  // on this machine
  const int rank_;   // of these
  const int first_;  // of these, in the communicator
  const Channels channels_;
  const std::int64_t sender_;    // of a channel's connection, where it sends
  const std::int64_t receiver_;  // and where it receives
  bool has_rings_ = false;
  bool has_multicast_ = false;
  std::set<int> sends_to_;
  std::set<int> receives_from_;
  std::int64_t taken_ = 0;
};

}  // namespace headroom::dry_run
