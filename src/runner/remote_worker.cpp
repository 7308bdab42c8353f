// SPDX-License-Identifier: Apache-2.0
#include "src/runner/remote_worker.h"

#include <utility>

#include "src/runner/work_order.h"

namespace headroom {

RemoteWorker::RemoteWorker(Deputy& deputy, const nlohmann::ordered_json& request,
                           const Environment& environment)
    : deputy_(deputy) {
  WorkOrder order{request, ""};
  for (const auto& [name, value] : environment) {
    if (name == kThreads) order.threads = value;
  }
  deputy_.connection.send({FrameKind::start, to_text(order)});
}

RemoteWorker::~RemoteWorker() {
  if (!end_) deputy_.lose("its worker did not end");
}

std::array<pollfd, 3> RemoteWorker::awaited() const {
  return {{deputy_.connection.awaited(), {-1, POLLIN, 0}, {-1, POLLIN, 0}}};
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
  if (end_ || deputy_.lost.empty()) return end_;
  end_ = WorkerEnd{};
  end_->lost = deputy_.lost;
  return end_;
}

void RemoteWorker::send(int signal) {
  deputy_.connection.send({FrameKind::signal, std::to_string(signal)});
}

void RemoteWorker::take_in() {
  if (end_ || !deputy_.lost.empty()) return;
  deputy_.connection.exchange();
  while (!end_) {
    const auto frame = deputy_.connection.next();
    if (!frame) break;
    take(*frame);
  }
  if (!end_ && !deputy_.connection.lost().empty()) deputy_.lose(deputy_.connection.lost());
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
    default:
      break;
  }
  deputy_.lose("it said what no deputy says");
}

}  // namespace headroom
