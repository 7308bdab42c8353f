// SPDX-License-Identifier: Apache-2.0
// NCCL: collectives. One lasts as long as what this rank sends by NCCL's rings takes to its
// neighbour. What is received is zeros, as all that is on the device, but where it is known what
// was sent: ranks that run tell each other, and wait for each other; for ranks that never come,
// what this one sends stands. By that, ranks that compare themselves agree.
#include <nccl.h>

#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/nccl_communicator.h"
#include "src/dry_run/nccl_types.h"
#include "src/dry_run/sent_by_ranks.h"
#include "src/dry_run/watchdog.h"

namespace headroom::dry_run {
namespace {

/// Queues a transfer of which this rank sends `sent` bytes, and that lasts as `moved` bytes do.
void transfer(cudaStream_t stream, std::int64_t sent, std::int64_t moved) {
  let_watchdogs_look();
  device_with_context().counters.collective_bytes += sent;
  Work work = peer_copy_work(dry_run().gpu, moved);
  work.launches = 1;
  run_transfer(stream, work);
}

void transfer(cudaStream_t stream, std::int64_t sent) { transfer(stream, sent, sent); }

/// A rank passes on all it has, but for the last of the chain; where it stands is NCCL's choice.
std::int64_t passed_on(ncclComm_t communicator, std::int64_t bytes) {
  return communicator->ranks > 1 ? bytes : 0;
}

/// What NCCL returns where the device has no memory for its buffers.
constexpr ncclResult_t kNoMemory = ncclUnhandledCudaError;

bool connect_each(ncclComm_t communicator) {
  for (int peer = 0; peer < communicator->ranks; ++peer) {
    NcclBuffers& buffers = *communicator->buffers;
    if (!buffers.connect_to(peer) || !buffers.connect_from(peer)) return false;
  }
  return true;
}

PartlyKnown known_at(const void* from, std::int64_t bytes) {
  Trust trust;  // what is assumed or doubted counts for known on the way
  return dry_run().known.find_partly(from, static_cast<std::size_t>(bytes), &trust);
}

/// Tells the ranks what this one sends, and gives `receive` what all of them do once they are
/// there. The collective ends when it does for the rank that comes last.
void exchange(ncclComm_t communicator, cudaStream_t stream, const void* send, std::int64_t bytes,
              const std::function<void(const Sent&)>& receive) {
  PartlyKnown own = known_at(send, bytes);
  const auto& peers = communicator->peers;
  if (peers == nullptr) return receive(Sent(std::move(own), communicator->ranks));
  peers->post(message_at(dry_run().timeline.free_at(stream), message_of(own)));
  wait_in_group([peers, stream, bytes, receive] {
    std::vector<Peers::Message> messages = peers->gather();
    Moment over_at{};
    for (Peers::Message& each : messages) over_at = later(over_at, take_moment(each));
    if (peers->are_live()) dry_run().timeline.wait(stream, over_at);
    receive(Sent(messages, bytes));
  });
}

/// What is known of it now stands there.
void put(void* to, const PartlyKnown& known, std::int64_t size) {
  dry_run().known.set_partly(to, known, static_cast<std::size_t>(size), /*trust=*/{});
}

/// `size` bytes from each rank, one behind the other, of what it sends from `begin` on. Of much
/// what is known in part counts for not known, but for objects, which are sent as long as the
/// longest: which part takes its time, of a thousand ranks.
void put_each(void* to, const Sent& sent, std::int64_t begin, std::int64_t size) {
  const bool is_much = size * sent.ranks() > static_cast<std::int64_t>(KnownBytes::kMaxBytes);
  dry_run().known.forget(to, static_cast<std::size_t>(size * sent.ranks()));
  auto* part = static_cast<char*>(to);
  for (int rank = 0; rank < sent.ranks(); ++rank, part += size) {
    const PartlyKnown& all = sent.of(rank);
    const bool is_object = KnownBytes::are_object(all.bytes.data(), all.bytes.size());
    if (all.has_any() && (all.gaps.empty() || !is_much || is_object)) {
      put(part, sent.of(rank, begin, size), size);
    }
  }
}

/// `size` bytes of what each rank sends from `begin` on, reduced.
void put_reduced(void* to, const Sent& sent, std::int64_t begin, std::int64_t size,
                 ncclRedOp_t operation, ncclDataType_t type) {
  const auto reduction = reduction_of(operation);
  const auto known =
      reduction ? sent.reduced(begin, size, *reduction, number_of(type)) : PartlyKnown{};
  put(to, known, size);
}

}  // namespace

HEADROOM_ENTRY ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* operation, void*, ncclDataType_t,
                                                     ncclScalarResidence_t, ncclComm_t) {
  *operation = static_cast<ncclRedOp_t>(ncclNumOps);  // the first number that no built-in has
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclRedOpDestroy(ncclRedOp_t, ncclComm_t) { return ncclSuccess; }

HEADROOM_ENTRY ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t sent,
                                          ncclDataType_t type, ncclComm_t communicator,
                                          cudaStream_t stream) {
  if (!communicator->buffers->connect_ranks(/*reduced=*/0)) return kNoMemory;
  const std::int64_t bytes = transfer_bytes(sent, type);
  transfer(stream, (communicator->ranks - 1) * bytes);
  exchange(communicator, stream, send, bytes,
           [=](const Sent& all) { put_each(receive, all, /*begin=*/0, bytes); });
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclReduceScatter(const void* send, void* receive, std::size_t received,
                                              ncclDataType_t type, ncclRedOp_t operation,
                                              ncclComm_t communicator, cudaStream_t stream) {
  if (!communicator->buffers->connect_ranks(/*reduced=*/0)) return kNoMemory;
  const std::int64_t bytes = transfer_bytes(received, type);
  const std::int64_t begin = communicator->rank * bytes;
  transfer(stream, (communicator->ranks - 1) * bytes);
  exchange(communicator, stream, send, communicator->ranks * bytes,
           [=](const Sent& all) { put_reduced(receive, all, begin, bytes, operation, type); });
  return ncclSuccess;
}

/// A reduce-scatter and an all-gather.
HEADROOM_ENTRY ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count,
                                          ncclDataType_t type, ncclRedOp_t operation,
                                          ncclComm_t communicator, cudaStream_t stream) {
  const std::int64_t ranks = communicator->ranks;
  const std::int64_t bytes = transfer_bytes(count, type);
  if (!communicator->buffers->connect_ranks(bytes)) return kNoMemory;
  transfer(stream, 2 * (ranks - 1) * bytes / ranks);
  exchange(communicator, stream, send, bytes, [=](const Sent& all) {
    put_reduced(receive, all, /*begin=*/0, bytes, operation, type);
  });
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t count,
                                          ncclDataType_t type, int root, ncclComm_t communicator,
                                          cudaStream_t stream) {
  if (!communicator->buffers->connect_ranks(/*reduced=*/0)) return kNoMemory;
  const std::int64_t bytes = transfer_bytes(count, type);
  transfer(stream, passed_on(communicator, bytes));
  exchange(communicator, stream, send, bytes,
           [=](const Sent& all) { put(receive, all.of(root), bytes); });
  return ncclSuccess;
}

/// In place.
HEADROOM_ENTRY ncclResult_t ncclBcast(void* buffer, std::size_t count, ncclDataType_t type,
                                      int root, ncclComm_t communicator, cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, communicator, stream);
}

HEADROOM_ENTRY ncclResult_t ncclReduce(const void* send, void* receive, std::size_t count,
                                       ncclDataType_t type, ncclRedOp_t operation, int root,
                                       ncclComm_t communicator, cudaStream_t stream) {
  if (!communicator->buffers->connect_ranks(/*reduced=*/0)) return kNoMemory;
  const std::int64_t bytes = transfer_bytes(count, type);
  const bool is_root = root == communicator->rank;
  transfer(stream, passed_on(communicator, bytes));
  exchange(communicator, stream, send, bytes, [=](const Sent& all) {
    if (is_root) put_reduced(receive, all, /*begin=*/0, bytes, operation, type);
  });
  return ncclSuccess;
}

/// `count` elements to each rank.
HEADROOM_ENTRY ncclResult_t ncclAlltoAll(const void* send, void* receive, std::size_t count,
                                         ncclDataType_t type, ncclComm_t communicator,
                                         cudaStream_t stream) {
  if (!connect_each(communicator)) return kNoMemory;
  const std::int64_t bytes = transfer_bytes(count, type);
  const std::int64_t begin = communicator->rank * bytes;
  transfer(stream, (communicator->ranks - 1) * bytes);
  exchange(communicator, stream, send, communicator->ranks * bytes,
           [=](const Sent& all) { put_each(receive, all, begin, bytes); });
  return ncclSuccess;
}

namespace {

/// Where it is too much to be known neither side tells or waits; but bytes may be an object.
bool is_told(std::int64_t bytes, ncclDataType_t type) {
  return type == ncclUint8 || bytes <= static_cast<std::int64_t>(KnownBytes::kMaxBytes);
}

/// Ranks of a pipeline send to their neighbours alone, the last one also to the first.
void note_exchange_with(int peer, ncclComm_t communicator) {
  if (!communicator->is_pipeline || !communicator->knows_ranks) return;
  const int distance = std::abs(peer - communicator->rank);
  communicator->is_pipeline = distance == 1 || distance == communicator->ranks - 1;
  // Where it turns out to be none, what was said of it is taken back.
  report_stage(device_with_context(), communicator->rank,
               communicator->is_pipeline ? communicator->ranks : 0);
}

}  // namespace

HEADROOM_ENTRY ncclResult_t ncclSend(const void* send, std::size_t count, ncclDataType_t type,
                                     int peer, ncclComm_t communicator, cudaStream_t stream) {
  if (!communicator->buffers->connect_to(peer)) return kNoMemory;
  const std::int64_t bytes = transfer_bytes(count, type);
  note_exchange_with(peer, communicator);
  if (communicator->peers != nullptr && is_told(bytes, type)) {
    communicator->peers->send(peer, message_of(known_at(send, bytes)));
  }
  transfer(stream, peer == communicator->rank ? 0 : bytes);
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclRecv(void* receive, std::size_t count, ncclDataType_t type,
                                     int peer, ncclComm_t communicator, cudaStream_t stream) {
  if (!communicator->buffers->connect_from(peer)) return kNoMemory;
  const bool from_itself = peer == communicator->rank;
  const std::int64_t bytes = transfer_bytes(count, type);
  note_exchange_with(peer, communicator);
  dry_run().known.forget(receive, static_cast<std::size_t>(bytes));
  const auto& peers = communicator->peers;
  if (peers != nullptr && is_told(bytes, type)) {
    wait_in_group([=] { put(receive, known_of(peers->receive(peer), bytes), bytes); });
  }
  transfer(stream, /*sent=*/0, from_itself ? 0 : bytes);
  return ncclSuccess;
}

}  // namespace headroom::dry_run
