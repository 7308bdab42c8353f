// SPDX-License-Identifier: Apache-2.0
// NCCL: communicators and groups. Of a communicator with more ranks than the machine has GPUs this
// process plays one rank and the others never come, as each needs a GPU; so it is where a launcher
// tells of a larger world. The ranks of others all run, each a process here.
#include "src/dry_run/nccl_communicator.h"

#include <dlfcn.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/launcher.h"
#include "src/dry_run/torch_library.h"

namespace headroom::dry_run {
namespace {

constexpr int kUsualDevices = 8;  // of a machine, where nobody says how many it has

/// What is left to be done at the end of this thread's group.
struct Group {
  int depth = 0;
  std::vector<std::function<void()>> left;
};
thread_local Group group;

/// What a rank tells the others who split a communicator.
struct Split {
  int color;
  int key;
  int rank;
};

/// Of the files of a communicator's ranks.
std::string path_of(const ncclUniqueId& id) {
  constexpr std::size_t kBytes = 16;  // are enough to be unlike all others
  const Settings& known = settings();
  std::string path = (known.played_folder.empty() ? known.report_folder : known.played_folder);
  path += "/nccl-";
  for (std::size_t i = 0; i < kBytes; ++i) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned char>(id.internal[i]));
    path += digits.data();
  }
  return path;
}

/// Null: there is nobody to tell.
std::shared_ptr<Peers> make_peers(const std::string& path, int ranks, int rank) {
  if (ranks == 1) return nullptr;
  if (!settings().played_folder.empty()) {
    return std::make_shared<Peers>(path, ranks, rank, Peers::Others::earlier);
  }
  const auto place = rank_by_launcher();
  const int world = std::max(ranks, place ? place->ranks : 0);
  if (world > settings().devices || settings().report_folder.empty()) return nullptr;
  return std::make_shared<Peers>(path, ranks, rank, Peers::Others::live);
}

/// Ranks that make a communicator wait for each other.
void meet(const std::shared_ptr<Peers>& peers) {
  peers->post(message_at(dry_run().timeline.host_now(), /*known=*/{}));
  wait_in_group([peers] {
    for (Peers::Message& each : peers->gather()) {
      dry_run().timeline.wait_on_host(take_moment(each));
    }
  });
}

/// Of the program's NCCL, which is loaded, though what it does is played here.
const NcclSetup& setup_of_nccl() {
  static const NcclSetup setup = [] {
    int version = NcclSetup{}.version;
    void* const library = loaded_library("libnccl");
    void* const function = library == nullptr ? nullptr : dlsym(library, "ncclGetVersion");
    if (function != nullptr) reinterpret_cast<decltype(&ncclGetVersion)>(function)(&version);
    return nccl_setup(version);
  }();
  return setup;
}

/// Null where the device has no memory for it.
std::unique_ptr<NcclBuffers> make_buffers(Device& device, int ranks, int rank) {
  const int of_machine =
      ranks_of_machine_by_launcher().value_or(std::max(settings().devices, kUsualDevices));
  auto buffers = std::make_unique<NcclBuffers>(device.nccl, dry_run().gpu, setup_of_nccl(), ranks,
                                               rank, of_machine);
  return buffers->initialize() ? std::move(buffers) : nullptr;
}

ncclResult_t make_communicator(ncclComm_t* communicator, int ranks, int rank,
                               const std::string& path) {
  if (ranks < 1 || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  auto buffers = make_buffers(device_with_context(), ranks, rank);
  if (buffers == nullptr) return ncclUnhandledCudaError;
  *communicator = new ncclComm{.ranks = ranks,
                               .rank = rank,
                               .device = current_device(),
                               .peers = make_peers(path, ranks, rank),
                               .buffers = std::move(buffers)};
  report_rank(device_with_context(), rank, ranks);
  const auto& peers = (*communicator)->peers;
  if (peers != nullptr && peers->are_live()) meet(peers);
  return ncclSuccess;
}

/// Of the files of a part of a communicator, the same on all its ranks.
std::string path_of_part(ncclComm_t parent, const std::string& name) {
  if (parent->peers == nullptr) return "";
  return parent->peers->path() + "-" + std::to_string(parent->peers->posts()) + "-" + name;
}

/// Of all ranks, those that asked for the same part, in its order.
std::vector<Split> members_of(int color, const std::vector<Peers::Message>& messages) {
  std::vector<Split> members;
  for (const Peers::Message& message : messages) {
    Split split{};
    if (message.size() != sizeof(split)) continue;
    std::memcpy(&split, message.data(), sizeof(split));
    if (split.color == color) members.push_back(split);
  }
  std::sort(members.begin(), members.end(), [](const Split& one, const Split& other) {
    return std::tie(one.key, one.rank) < std::tie(other.key, other.rank);
  });
  return members;
}

ncclResult_t split_among_peers(ncclComm_t parent, const Split& asked, ncclComm_t* communicator) {
  Peers::Message message(sizeof(asked));
  std::memcpy(message.data(), &asked, sizeof(asked));
  parent->peers->post(message);
  const auto members = members_of(asked.color, parent->peers->gather());
  if (asked.color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
  const auto is_this = [&](const Split& member) { return member.rank == parent->rank; };
  const auto place = std::find_if(members.begin(), members.end(), is_this) - members.begin();
  return make_communicator(communicator, static_cast<int>(members.size()), static_cast<int>(place),
                           path_of_part(parent, std::to_string(asked.color)));
}

}  // namespace

Peers::Message message_at(const Moment& moment, const Peers::Message& known) {
  Peers::Message message(sizeof(moment) + known.size());
  std::memcpy(message.data(), moment.data(), sizeof(moment));
  std::copy(known.begin(), known.end(), message.begin() + sizeof(moment));
  return message;
}

Moment take_moment(Peers::Message& message) {
  Moment moment{};
  if (message.size() < sizeof(moment)) return moment;
  std::memcpy(moment.data(), message.data(), sizeof(moment));
  message.erase(message.begin(), message.begin() + sizeof(moment));
  return moment;
}

void wait_in_group(std::function<void()> work) {
  if (group.depth == 0) return work();
  group.left.push_back(std::move(work));
}

HEADROOM_ENTRY ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclGroupEnd() {
  if (group.depth == 0) return ncclInvalidUsage;
  if (--group.depth > 0) return ncclSuccess;
  for (const auto& work : std::exchange(group.left, {})) work();
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t*) { return ncclGroupEnd(); }

/// A rank that runs again, to be told what it lacked, gets the same.
HEADROOM_ENTRY ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (!settings().played_folder.empty()) {
    static std::atomic<int> count = 0;
    *id = {};
    std::snprintf(id->internal, sizeof(id->internal), "%d of rank %d", ++count,
                  rank_by_launcher().value_or(RankOfWorld{}).rank);
    return ncclSuccess;
  }
  const bool is_filled = getrandom(id, sizeof(*id), 0) == static_cast<ssize_t>(sizeof(*id));
  return is_filled ? ncclSuccess : ncclSystemError;
}

HEADROOM_ENTRY const char* ncclGetErrorString(ncclResult_t result) {
  if (result == ncclUnhandledCudaError) return "unhandled cuda error";
  return result == ncclSuccess ? "no error" : "invalid argument";
}

/// In NCCL's words.
HEADROOM_ENTRY const char* ncclGetLastError(ncclComm_t) {
  return device_with_context().nccl.refusals() > 0 ? "Cuda failure 2 'out of memory'" : "";
}

HEADROOM_ENTRY ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId id,
                                             int rank) {
  return make_communicator(communicator, ranks, rank, path_of(id));
}

HEADROOM_ENTRY ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int ranks,
                                                   ncclUniqueId id, int rank, ncclConfig_t*) {
  return make_communicator(communicator, ranks, rank, path_of(id));
}

HEADROOM_ENTRY ncclResult_t ncclCommInitRankScalable(ncclComm_t* communicator, int ranks, int rank,
                                                     int, ncclUniqueId* ids, ncclConfig_t*) {
  return make_communicator(communicator, ranks, rank, path_of(*ids));
}

/// As many ranks as devices, all in this process.
HEADROOM_ENTRY ncclResult_t ncclCommInitAll(ncclComm_t* communicators, int count,
                                            const int* devices) {
  for (int rank = 0; rank < count; ++rank) {
    const int device = devices == nullptr ? rank : devices[rank];
    auto buffers = make_buffers(device_with_context(device), count, rank);
    if (buffers == nullptr) return ncclUnhandledCudaError;
    communicators[rank] = new ncclComm{.ranks = count,
                                       .rank = rank,
                                       .device = device,
                                       .peers = nullptr,
                                       .buffers = std::move(buffers)};
  }
  return ncclSuccess;
}

/// Where the other ranks never come, how many of them ask for the same part only they know: as many
/// as there are. The key is taken for this rank's place in it, as PyTorch gives it.
HEADROOM_ENTRY ncclResult_t ncclCommSplit(ncclComm_t parent, int color, int key,
                                          ncclComm_t* communicator, ncclConfig_t*) {
  *communicator = nullptr;
  if (parent->peers != nullptr && parent->peers->are_live()) {
    return split_among_peers(parent, {color, key, parent->rank}, communicator);
  }
  if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
  const bool is_place = key >= 0 && key < parent->ranks;
  const ncclResult_t result =
      make_communicator(communicator, parent->ranks, is_place ? key : parent->rank,
                        path_of_part(parent, std::to_string(color)));
  if (result == ncclSuccess) (*communicator)->knows_ranks = false;
  return result;
}

HEADROOM_ENTRY ncclResult_t ncclCommShrink(ncclComm_t parent, int* excluded, int count,
                                           ncclComm_t* communicator, ncclConfig_t*, int) {
  const auto below =
      std::count_if(excluded, excluded + count, [&](int other) { return other < parent->rank; });
  return make_communicator(communicator, parent->ranks - count,
                           parent->rank - static_cast<int>(below), path_of_part(parent, "shrunk"));
}

HEADROOM_ENTRY ncclResult_t ncclCommFinalize(ncclComm_t) { return ncclSuccess; }

HEADROOM_ENTRY ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}

/// Another thread may wait for the others.
HEADROOM_ENTRY ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  if (communicator->peers != nullptr) communicator->peers->abort();
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* result) {
  *result = ncclSuccess;
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclCommCount(const ncclComm_t communicator, int* ranks) {
  *ranks = communicator->ranks;
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclCommUserRank(const ncclComm_t communicator, int* rank) {
  *rank = communicator->rank;
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclCommCuDevice(const ncclComm_t communicator, int* device) {
  *device = communicator->device;
  return ncclSuccess;
}

}  // namespace headroom::dry_run
