// SPDX-License-Identifier: Apache-2.0
// What the runner and an agent say to each other.
#include <sys/socket.h>

#include "src/core/error.h"
#include "src/workers/agents.h"
#include "src/workers/worker.h"
#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"

namespace headroom {
namespace {

constexpr std::size_t kMaxBytesOfFrame = 4096;

const Launch& this_launch() {
  static const Launch launch{.launcher = "torchrun",
                             .ranks = 4,
                             .rank = 2,
                             .local_rank = 0,
                             .local_ranks = {},
                             .master_address = "node",
                             .master_port = 29500};
  return launch;
}

/// The payloads of all frames as each of the messages that a frame may hold.
void check_payload(const std::string& payload) {
  if (const auto hello = read_hello(payload)) {
    require(read_hello(to_text(*hello)) == hello, "a hello reads back as it was");
  }
  if (const auto order = read_order(payload, this_launch())) {
    require(order->request.at("rank") == this_launch().rank, "an order is for this rank");
    require(!order->request.contains("snapshot"), "an order names no file");
  }
  if (const auto end = read_worker_end(payload)) {
    require(read_worker_end(to_text(*end)) == end, "an end reads back as it was");
  }
}

}  // namespace

void fuzz_frames(std::string_view input) {
  std::string sent;
  for (const Frame& frame : read_however(input, FrameReader(kMaxBytesOfFrame))) {
    require(frame.payload.size() <= kMaxBytesOfFrame, "no frame is longer than the limit");
    sent += encode(frame);
    check_payload(frame.payload);
  }
  require(input.starts_with(sent), "frames are what was sent");
  check_payload(std::string(input));
}

/// What an agent says, as the runner hears it: over a socket.
void fuzz_agent(std::string_view input) {
  constexpr std::size_t kRoomOfSocket = 64 * 1024;
  int sockets[2];
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) == 0, "there are sockets");
  Hello hello;
  hello.host = "node";
  Agent agent{hello, {}, Connection(FileDescriptor(sockets[0]), kMaxBytesOfFrame)};
  {
    const FileDescriptor other(sockets[1]);
    const std::string_view said = input.substr(0, kRoomOfSocket);
    const ssize_t sent = send(other.get(), said.data(), said.size(), MSG_NOSIGNAL);
    require(sent == std::ssize(said), "a socket takes the input");
  }
  RemoteWorker worker(agent, {{"request", "measure"}}, {});
  std::size_t said_bytes = 0;
  try {
    // Each turn takes some of what came: the end of the connection comes within these.
    for (int turn = 0; turn < 1000 && !worker.try_wait(); ++turn) {
      said_bytes += worker.read_messages().size() + worker.read_output().size();
    }
  } catch (const ResultsError&) {
    return;  // it refuses, which ends the run
  }
  require(worker.try_wait().has_value(), "a worker whose connection was closed has ended");
  require(said_bytes <= input.size(), "a worker said no more than was sent");
}

}  // namespace headroom
