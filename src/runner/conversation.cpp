// SPDX-License-Identifier: Apache-2.0
#include "src/runner/conversation.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>

#include "src/core/checksum.h"
#include "src/runner/local_worker.h"
#include "src/runner/remote_worker.h"

namespace headroom {
namespace {

constexpr std::chrono::seconds kGrace{5};        // between SIGTERM and SIGKILL
constexpr std::chrono::seconds kUnkillable{30};  // a driver can hold a process in the kernel
constexpr int kLastReads = 2;                    // at least what a pipe of default size holds

std::string make_nonce() {
  std::random_device source;
  const std::uint64_t high = source();
  return to_hex(high << 32 | source(), 16);
}

nlohmann::ordered_json with_nonce(nlohmann::ordered_json body, const std::string& nonce) {
  body["nonce"] = nonce;
  return body;
}

std::string describe(const ExitStatus& exit) {
  if (exit.signal == 0) return "with exit status " + std::to_string(exit.code);
  return "by signal " + std::to_string(exit.signal) + " (" + strsignal(exit.signal) + ")";
}

std::unique_ptr<RunningWorker> start_worker(const WorkerRequest& request,
                                            const nlohmann::ordered_json& body) {
  if (request.deputy != nullptr) {
    return std::make_unique<RemoteWorker>(*request.deputy, body, request.environment);
  }
  return std::make_unique<LocalWorker>(request.worker, body.dump(), request.environment);
}

}  // namespace

Conversation::Conversation(const WorkerRequest& request, Clock::time_point start,
                           std::function<void(const WorkerProgress&)> on_progress)
    : Conversation(request, start, make_nonce(), std::move(on_progress)) {}

Conversation::Conversation(const WorkerRequest& request, Clock::time_point start,
                           const std::string& nonce,
                           std::function<void(const WorkerProgress&)> on_progress)
    : request_(request),
      messages_(nonce, std::move(on_progress)),
      log_(request.log),
      worker_(start_worker(request, with_nonce(request.body, nonce))),
      last_message_(Clock::now()),
      end_(start + request.total) {}

std::array<pollfd, 3> Conversation::awaited() const {
  // The end stays readable for ever; a negative number is passed over.
  if (exit_) return {{{-1, POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}}};
  return worker_->awaited();
}

Conversation::Clock::time_point Conversation::next_deadline() const {
  if (exit_) return Clock::time_point::max();
  if (killed_) return *kill_at_ + kUnkillable;
  return kill_at_ ? *kill_at_ : std::min(last_message_ + request_.silence, end_);
}

void Conversation::take_in() {
  if (exit_) return;
  read();
  exit_ = worker_->try_wait();
  if (!exit_) return;
  exited_at_ = Clock::now();
  // What it said last: no more than its pipes hold, as something it left behind may go on.
  for (int i = 0; i < kLastReads; ++i) read();
}

void Conversation::read() {
  const std::string_view messages = worker_->read_messages();
  if (!messages.empty()) last_message_ = Clock::now();
  if (!ending_) messages_.take(messages);  // what comes too late does not count
  log_.append(worker_->read_output());
}

void Conversation::end_where_due(Clock::time_point now, int interrupts) {
  if (exit_) return;
  if (!ending_) {
    if (!messages_.fault().empty()) {
      tell_to_end(Ending::broken, now);
    } else if (interrupts > 0) {
      tell_to_end(Ending::interrupted, now);
    } else if (!kill_at_ && (now >= end_ || now >= last_message_ + request_.silence)) {
      too_long_ = now >= end_;
      tell_to_end(Ending::timed_out, now);
    }
  }
  if (kill_at_ && !killed_ && (now >= *kill_at_ || interrupts > 1)) {
    killed_ = true;
    kill_at_ = now;
    worker_->send(SIGKILL);
  }
  if (killed_ && now >= *kill_at_ + kUnkillable) exit_ = WorkerEnd{{0, SIGKILL}};
}

void Conversation::tell_to_end(Ending why, Clock::time_point now) {
  ending_ = why;
  end_by(now + kGrace);
  worker_->send(SIGTERM);
}

void Conversation::end_by(Clock::time_point time) {
  if (!killed_) kill_at_ = std::min(kill_at_.value_or(time), time);
}

bool Conversation::went_wrong() const {
  if (ending_ == Ending::interrupted) return false;
  if (!messages_.fault().empty()) return true;
  if (!messages_.record().is_null()) {
    return messages_.record().value("status", nlohmann::ordered_json()) != "ok";
  }
  return exit_ || ending_;
}

bool Conversation::timed_out() const {
  return ending_ == Ending::timed_out && messages_.record().is_null();
}

WorkerReply Conversation::reply() const {
  WorkerReply reply;
  reply.exit = exit_->exit;
  reply.killed_for_memory = exit_->killed_for_memory;
  reply.last = messages_.last();
  reply.ending = final_ending();
  const bool has_crashed = reply.ending == Ending::crashed || reply.ending == Ending::lost;
  reply.ended_at = has_crashed ? exited_at_ : last_message_;
  if (reply.ending == Ending::answered) reply.record = messages_.record();
  reply.reason = reason(reply.ending);
  return reply;
}

WorkerReply::Ending Conversation::final_ending() const {
  if (!messages_.fault().empty()) return Ending::broken;
  // A record was complete when it came: how the worker ended after it does not undo it.
  if (!messages_.record().is_null()) return Ending::answered;
  if (ending_) return *ending_;
  if (killed_) return Ending::dismissed;
  return exit_->lost.empty() ? Ending::crashed : Ending::lost;
}

std::string Conversation::reason(Ending ending) const {
  const std::string where = " in " + describe(messages_.last());
  switch (ending) {
    case Ending::answered:
      if (killed_ || ending_) return "the worker did not end after its record";
      if (!exit_->lost.empty()) return exit_->lost + ", after its record";
      if (exit_->exit == ExitStatus{}) return "";
      return "the worker ended " + describe(exit_->exit) + " after its record";
    case Ending::crashed:
      return "the worker ended " + describe(exit_->exit) + where + ", with no record";
    case Ending::lost:
      return exit_->lost + "," + where;
    case Ending::broken:
      return messages_.fault();
    case Ending::timed_out:
      return too_long_
                 ? "not done after " + std::to_string(request_.total.count()) + " s" + where
                 : "no message for " + std::to_string(request_.silence.count()) + " s" + where;
    case Ending::dismissed:
      return "the worker was ended" + where + ", since another rank had gone wrong";
    case Ending::interrupted:
      return "interrupted" + where;
  }
  return "";
}

}  // namespace headroom
