// SPDX-License-Identifier: Apache-2.0
// NCCL: communicators of any number of ranks, of which this process is one and the others never
// come. A collective lasts as long as what this rank sends by NCCL's rings takes to its neighbour.
// What it receives is zeros, as all that is on the device; but where it is known what this rank
// sends, the others send the same, by which ranks that compare themselves agree. The memory that
// NCCL takes for itself is not counted. ncclCommSplit is not modelled: how many ranks ask for the
// same group, only they know.
#include <nccl.h>

#include <algorithm>
#include <cstring>

#include "src/dry_run/dry_run.h"

struct ncclComm {
  int ranks;
  int rank;
};

namespace headroom::dry_run {
namespace {

ncclResult_t make_communicator(ncclComm_t* communicator, int ranks, int rank) {
  if (ranks < 1 || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  *communicator = new ncclComm{ranks, rank};
  return ncclSuccess;
}

std::int64_t transfer_bytes(std::size_t count, ncclDataType_t type) {
  const auto elements = static_cast<std::int64_t>(count);
  switch (type) {
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8 * elements;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4 * elements;
    case ncclFloat16:
    case ncclBfloat16:
      return 2 * elements;
    default:  // all others have 8 bits
      return elements;
  }
}

/// Queues a transfer of which this rank sends `sent` bytes, and that lasts as `moved` bytes do.
ncclResult_t transfer(cudaStream_t stream, std::int64_t sent, std::int64_t moved) {
  device_with_context().counters.collective_bytes += sent;
  run_transfer(stream, peer_copy_ns(dry_run().gpu, moved));
  return ncclSuccess;
}

ncclResult_t transfer(cudaStream_t stream, std::int64_t sent) {
  return transfer(stream, sent, sent);
}

/// A rank passes on all it has, but for the last of the chain; where it stands is NCCL's choice.
std::int64_t passed_on(ncclComm_t communicator, std::int64_t bytes) {
  return communicator->ranks > 1 ? bytes : 0;
}

/// What stands in `sent` on each rank now stands in `received` on this one: `parts` times.
void receive_same(void* received, const void* sent, std::int64_t bytes, int parts = 1) {
  auto* to = static_cast<char*>(received);
  for (int part = 0; part < parts; ++part, to += bytes) {
    dry_run().known.copy(to, sent, static_cast<std::size_t>(bytes));
  }
}

void receive_unknown(void* received, std::int64_t bytes) {
  dry_run().known.forget(received, static_cast<std::size_t>(bytes));
}

/// What is reduced over ranks that send the same: that itself, but for sums and products.
void receive_reduced(void* received, const void* sent, std::int64_t bytes, ncclRedOp_t operation,
                     ncclComm_t communicator) {
  const bool is_same = operation == ncclMax || operation == ncclMin || operation == ncclAvg;
  if (is_same || communicator->ranks == 1) return receive_same(received, sent, bytes);
  receive_unknown(received, bytes);
}

}  // namespace

HEADROOM_ENTRY ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::memset(id, 0, sizeof(*id));  // nobody else will come by it
  return ncclSuccess;
}

HEADROOM_ENTRY const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess ? "no error" : "invalid argument";
}

HEADROOM_ENTRY const char* ncclGetLastError(ncclComm_t) { return ""; }

HEADROOM_ENTRY ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId,
                                             int rank) {
  return make_communicator(communicator, ranks, rank);
}

HEADROOM_ENTRY ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int ranks,
                                                   ncclUniqueId, int rank, ncclConfig_t*) {
  return make_communicator(communicator, ranks, rank);
}

HEADROOM_ENTRY ncclResult_t ncclCommInitRankScalable(ncclComm_t* communicator, int ranks, int rank,
                                                     int, ncclUniqueId*, ncclConfig_t*) {
  return make_communicator(communicator, ranks, rank);
}

/// As many ranks as devices, all in this process.
HEADROOM_ENTRY ncclResult_t ncclCommInitAll(ncclComm_t* communicators, int count, const int*) {
  for (int rank = 0; rank < count; ++rank) make_communicator(&communicators[rank], count, rank);
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclCommShrink(ncclComm_t parent, int* excluded, int count,
                                           ncclComm_t* communicator, ncclConfig_t*, int) {
  const auto below =
      std::count_if(excluded, excluded + count, [&](int other) { return other < parent->rank; });
  return make_communicator(communicator, parent->ranks - count,
                           parent->rank - static_cast<int>(below));
}

HEADROOM_ENTRY ncclResult_t ncclCommFinalize(ncclComm_t) { return ncclSuccess; }

HEADROOM_ENTRY ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  delete communicator;
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

// Memory: a registered buffer is faster on a real device, and takes nothing.

HEADROOM_ENTRY ncclResult_t ncclMemAlloc(void** address, std::size_t size) {
  return cudaMalloc(address, size) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

HEADROOM_ENTRY ncclResult_t ncclMemFree(void* address) {
  return cudaFree(address) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

HEADROOM_ENTRY ncclResult_t ncclCommRegister(const ncclComm_t, void* address, std::size_t,
                                             void** handle) {
  *handle = address;
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclCommDeregister(const ncclComm_t, void*) { return ncclSuccess; }

HEADROOM_ENTRY ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* operation, void*, ncclDataType_t,
                                                     ncclScalarResidence_t, ncclComm_t) {
  *operation = static_cast<ncclRedOp_t>(ncclNumOps);  // the first number that no built-in has
  return ncclSuccess;
}

HEADROOM_ENTRY ncclResult_t ncclRedOpDestroy(ncclRedOp_t, ncclComm_t) { return ncclSuccess; }

// Within a group, what is asked for is queued as it comes.

HEADROOM_ENTRY ncclResult_t ncclGroupStart() { return ncclSuccess; }
HEADROOM_ENTRY ncclResult_t ncclGroupEnd() { return ncclSuccess; }

HEADROOM_ENTRY ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t sent,
                                          ncclDataType_t type, ncclComm_t communicator,
                                          cudaStream_t stream) {
  const std::int64_t bytes = transfer_bytes(sent, type);
  receive_same(receive, send, bytes, communicator->ranks);
  return transfer(stream, (communicator->ranks - 1) * bytes);
}

HEADROOM_ENTRY ncclResult_t ncclReduceScatter(const void* send, void* receive, std::size_t received,
                                              ncclDataType_t type, ncclRedOp_t operation,
                                              ncclComm_t communicator, cudaStream_t stream) {
  const std::int64_t bytes = transfer_bytes(received, type);
  const auto* part = static_cast<const char*>(send) + communicator->rank * bytes;
  receive_reduced(receive, part, bytes, operation, communicator);
  return transfer(stream, (communicator->ranks - 1) * bytes);
}

/// A reduce-scatter and an all-gather.
HEADROOM_ENTRY ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count,
                                          ncclDataType_t type, ncclRedOp_t operation,
                                          ncclComm_t communicator, cudaStream_t stream) {
  const std::int64_t ranks = communicator->ranks;
  const std::int64_t bytes = transfer_bytes(count, type);
  receive_reduced(receive, send, bytes, operation, communicator);
  return transfer(stream, 2 * (ranks - 1) * bytes / ranks);
}

HEADROOM_ENTRY ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t count,
                                          ncclDataType_t type, int, ncclComm_t communicator,
                                          cudaStream_t stream) {
  receive_same(receive, send, transfer_bytes(count, type));
  return transfer(stream, passed_on(communicator, transfer_bytes(count, type)));
}

HEADROOM_ENTRY ncclResult_t ncclBcast(void*, std::size_t count, ncclDataType_t type, int,
                                      ncclComm_t communicator, cudaStream_t stream) {
  return transfer(stream, passed_on(communicator, transfer_bytes(count, type)));
}

HEADROOM_ENTRY ncclResult_t ncclReduce(const void* send, void* receive, std::size_t count,
                                       ncclDataType_t type, ncclRedOp_t operation, int root,
                                       ncclComm_t communicator, cudaStream_t stream) {
  const std::int64_t bytes = transfer_bytes(count, type);
  if (root == communicator->rank) receive_reduced(receive, send, bytes, operation, communicator);
  return transfer(stream, passed_on(communicator, bytes));
}

/// `count` elements to each rank.
HEADROOM_ENTRY ncclResult_t ncclAlltoAll(const void* send, void* receive, std::size_t count,
                                         ncclDataType_t type, ncclComm_t communicator,
                                         cudaStream_t stream) {
  const std::int64_t bytes = transfer_bytes(count, type);
  // From each rank comes its part for this one.
  const auto* part = static_cast<const char*>(send) + communicator->rank * bytes;
  receive_same(receive, part, bytes, communicator->ranks);
  return transfer(stream, (communicator->ranks - 1) * bytes);
}

HEADROOM_ENTRY ncclResult_t ncclSend(const void*, std::size_t count, ncclDataType_t type, int peer,
                                     ncclComm_t communicator, cudaStream_t stream) {
  return transfer(stream, peer == communicator->rank ? 0 : transfer_bytes(count, type));
}

HEADROOM_ENTRY ncclResult_t ncclRecv(void* receive, std::size_t count, ncclDataType_t type,
                                     int peer, ncclComm_t communicator, cudaStream_t stream) {
  const bool from_itself = peer == communicator->rank;
  const std::int64_t bytes = transfer_bytes(count, type);
  receive_unknown(receive, bytes);
  return transfer(stream, /*sent=*/0, from_itself ? 0 : bytes);
}

}  // namespace headroom::dry_run
