// SPDX-License-Identifier: Apache-2.0
#include "src/workers/worker.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "src/core/error.h"
#include "src/core/text.h"
#include "src/workers/agents.h"

namespace headroom {

LocalWorker::LocalWorker(const std::string& program, const std::string& request,
                         const Environment& environment)
    : oom_kills_(count_oom_kills()), process_({program}, request, environment) {}

std::array<pollfd, 3> LocalWorker::awaited() const {
  // A closed pipe stays readable for ever; a negative number is passed over.
  return {{{process_.ended(), POLLIN, 0},
           {messages_.is_open ? process_.messages() : -1, POLLIN, 0},
           {output_.is_open ? process_.output() : -1, POLLIN, 0}}};
}

std::string_view LocalWorker::read_some(int pipe, Read& into) {
  if (!into.is_open) return {};
  const ssize_t count = read(pipe, into.bytes.data(), into.bytes.size());
  if (count < 0 && errno != EAGAIN && errno != EINTR) throw_errno("a pipe of the worker");
  if (count < 0) return {};
  into.is_open = count > 0;
  return {into.bytes.data(), static_cast<std::size_t>(count)};
}

std::optional<WorkerEnd> LocalWorker::try_wait() {
  const auto exit = process_.try_wait();
  if (!exit) return std::nullopt;
  WorkerEnd end{*exit};
  end.killed_for_memory =
      exit->signal == SIGKILL && oom_kills_ && count_oom_kills().value_or(0) > *oom_kills_;
  return end;
}

RemoteWorker::RemoteWorker(Agent& agent, const nlohmann::ordered_json& request,
                           const Environment& environment)
    : agent_(agent) {
  WorkOrder order{request, ""};
  for (const auto& [name, value] : environment) {
    if (name == kThreads) order.threads = value;
  }
  agent_.connection.send({FrameKind::start, to_text(order)});
}

RemoteWorker::~RemoteWorker() {
  if (!end_) agent_.lose("its worker did not end");
}

std::array<pollfd, 3> RemoteWorker::awaited() const {
  return {{agent_.connection.awaited(), {-1, POLLIN, 0}, {-1, POLLIN, 0}}};
}

std::string_view RemoteWorker::read_messages() {
  take_in();
  read_messages_ = std::exchange(messages_, {});
  return read_messages_;
}

std::string_view RemoteWorker::read_output() {
  read_output_ = std::exchange(output_, {});
  return read_output_;
}

std::optional<WorkerEnd> RemoteWorker::try_wait() {
  if (end_ || agent_.lost.empty()) return end_;
  end_ = WorkerEnd{};
  end_->lost = agent_.lost;
  return end_;
}

void RemoteWorker::send(int signal) {
  agent_.connection.send({FrameKind::signal, std::to_string(signal)});
}

void RemoteWorker::take_in() {
  if (end_ || !agent_.lost.empty()) return;
  agent_.connection.exchange();
  while (!end_) {
    const auto frame = agent_.connection.next();
    if (!frame) break;
    take(*frame);
  }
  if (!end_ && !agent_.connection.lost().empty()) agent_.lose(agent_.connection.lost());
}

void RemoteWorker::take(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::message:
      messages_ += frame.payload;
      return;
    case FrameKind::output:
      output_ += frame.payload;
      return;
    case FrameKind::ended:
      end_ = read_worker_end(frame.payload);
      if (end_) return;
      break;
    case FrameKind::refused:
      throw ResultsError("rank " + std::to_string(agent_.hello.rank) + " on " + agent_.hello.host +
                         ": " + printable(frame.payload));
    default:
      break;
  }
  agent_.lose("it said what no agent says");
}

}  // namespace headroom
