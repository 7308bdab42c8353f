// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/nccl_buffers.h"

#include <algorithm>
#include <cstdlib>

#include "src/dry_run/parts.h"

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kPage = GpuMemory::kGranularity;

/// An H100 with NCCL 2.28.9 was 496 MiB fuller with a communicator of one rank, of which 388 are
/// initialize()'s. An RTX 3090 was 484 MiB fuller (github.com/NVIDIA/nccl/pull/2366).
constexpr std::int64_t kKernels = 108 * kMiB;

/// A number that a variable gives; `otherwise` where it gives none.
std::int64_t variable(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 0);
  return end == text ? otherwise : value;
}

std::int64_t in_pages(std::int64_t bytes) { return whole_parts(bytes, kPage); }

// Of a connection, beside its buffer: those of the two protocols for small messages, and a header.
constexpr std::int64_t kSmallBuffers = 512 * kKiB + 4800 * kKiB;
constexpr std::int64_t kHeader = 4 * kKiB;

}  // namespace

NcclSetup nccl_setup(int version) {
  NcclSetup setup{.version = version};
  setup.has_own_pages = version >= 21900 && variable("NCCL_CUMEM_ENABLE", 1) != 0;
  setup.connects_late =
      version >= 22200 && setup.has_own_pages && variable("NCCL_RUNTIME_CONNECT", 1) != 0;
  setup.may_multicast = version >= 21700 && variable("NCCL_NVLS_ENABLE", 1) != 0;
  setup.buffer = std::max<std::int64_t>(0, variable("NCCL_BUFFSIZE", setup.buffer));
  return setup;
}

bool NcclMemory::take(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::int64_t all = bytes + (has_kernels_ ? 0 : kKernels);
  if (!memory_.take(all)) {
    ++refusals_;
    return false;
  }
  has_kernels_ = true;
  bytes_ += all;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  return true;
}

void NcclMemory::give_back(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  memory_.give_back(bytes);
  bytes_ -= bytes;
}

std::int64_t NcclMemory::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

std::int64_t NcclMemory::refusals() const {
  const std::lock_guard lock(mutex_);
  return refusals_;
}

NcclBuffers::Channels NcclBuffers::channels_of(const Gpu& gpu, const NcclSetup& setup, int ranks) {
  constexpr std::int64_t kChunk = 512 * kKiB;
  if (ranks == 1) {
    const int most = setup.version >= 22500 ? 64 : 32;
    return {.rings = most, .pairs = most, .multicast = 0, .by_reading = false, .chunk = kChunk};
  }
  constexpr double kFastestPcie = 64e9;
  if (gpu.peer_bytes_per_second <= kFastestPcie) {
    return {.rings = 2, .pairs = 2, .multicast = 0, .by_reading = false, .chunk = 128 * kKiB};
  }
  const int major = gpu.capability.major;
  Channels channels{24, 32, /*multicast=*/0, /*by_reading=*/major == 8, kChunk};
  if (major < 8) channels.rings = 12, channels.pairs = 16;
  if (major > 9) channels.rings = 32;
  if (major >= 9 && setup.may_multicast) channels.multicast = major == 9 ? 16 : 24;
  // Before 2.22 it had the rings' channels, and there was none between two GPUs.
  if (setup.version < 22200 && channels.multicast > 0) {
    channels.multicast = ranks > 2 ? channels.rings : 0;
  }
  return channels;
}

NcclBuffers::NcclBuffers(NcclMemory& memory, const Gpu& gpu, const NcclSetup& setup, int ranks,
                         int rank, int ranks_of_machine)
    : memory_(memory),
      setup_(setup),
      ranks_(std::min(ranks, ranks_of_machine)),
      rank_(rank % ranks_),
      first_(rank - rank_),
      channels_(channels_of(gpu, setup, ranks_)),
      sender_(in_pages(kHeader + (channels_.by_reading ? setup.buffer : 0))),
      receiver_(in_pages(kHeader + kSmallBuffers + (channels_.by_reading ? 0 : setup.buffer))) {}

NcclBuffers::~NcclBuffers() { memory_.give_back(taken_); }

bool NcclBuffers::take(std::int64_t bytes) {
  if (!memory_.take(bytes)) return false;
  taken_ += bytes;
  return true;
}

std::int64_t NcclBuffers::rings() const {
  return ranks_ > 1 ? channels_.rings * (sender_ + receiver_) : 0;
}

/// The ranks of a machine are a chain, each with the next in both directions. Of these the rings
/// have one, or of two ranks both.
std::int64_t NcclBuffers::trees() const {
  if (ranks_ <= 2) return 0;
  return channels_.rings * ((rank_ > 0 ? sender_ : 0) + (rank_ < ranks_ - 1 ? receiver_ : 0));
}

/// A buffer of 8 steps to reduce and one to broadcast, for each rank.
std::int64_t NcclBuffers::multicast() const {
  std::int64_t buffer = 1 * kMiB;
  if (setup_.version < 22200) buffer += kPage;
  if (setup_.version < 22100) buffer = setup_.buffer + kPage;
  return in_pages(std::int64_t{2} * channels_.multicast * ranks_ * buffer);
}

bool NcclBuffers::initialize() {
  const int channels = std::max(channels_.rings, channels_.pairs);
  // Three small tensors for each channel, and two for the communicator.
  std::int64_t small = std::int64_t{3} * channels + 2;
  // One for each that multicasts, and one for all.
  if (channels_.multicast > 0) small += channels_.multicast + 1;
  std::int64_t bytes = setup_.has_own_pages ? small * kPage : 0;
  if (!setup_.connects_late) {
    constexpr int kStepsToMachines = 16;  // of a pool for other machines, though there be none
    bytes += rings() + trees() + multicast() +
             std::int64_t{kStepsToMachines} * channels_.pairs * channels_.chunk;
    has_rings_ = has_multicast_ = true;
  }
  return take(bytes);
}

bool NcclBuffers::connect_ranks(std::int64_t reduced) {
  // By NCCL's model of its times multicast takes the least from 1 or 2 MB on; rings for all else
  // but all-reduces of 2 to 4 MB, which go along trees.
  constexpr std::int64_t kWorthwhile = 2 * kMiB;
  if (channels_.multicast > 0 && ranks_ > 2 && reduced >= kWorthwhile) {
    if (!has_multicast_ && !take(multicast())) return false;
    has_multicast_ = true;
    return true;
  }
  if (!has_rings_ && !take(rings())) return false;
  has_rings_ = true;
  return true;
}

bool NcclBuffers::is_near(int peer) const {
  const int place = peer - first_;
  return place >= 0 && place < ranks_ && place != rank_;
}

bool NcclBuffers::connect_to(int peer) {
  if (!is_near(peer) || sends_to_.contains(peer)) return true;
  if (!take(channels_.pairs * sender_)) return false;
  sends_to_.insert(peer);
  return true;
}

bool NcclBuffers::connect_from(int peer) {
  if (!is_near(peer) || receives_from_.contains(peer)) return true;
  if (!take(channels_.pairs * receiver_)) return false;
  receives_from_.insert(peer);
  return true;
}

}  // namespace headroom::dry_run
