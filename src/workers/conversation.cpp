// SPDX-License-Identifier: Apache-2.0
#include "src/workers/conversation.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json.h"
#include "src/core/message_size.h"
#include "src/core/text.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxBytesOfPhase = 64;

bool is_text(const Json& message, const char* key, std::string_view value) {
  const auto entry = message.find(key);
  return entry != message.end() && entry->is_string() &&
         entry->get_ref<const std::string&>() == value;
}

std::int64_t count_of(const Json& message, const char* key) {
  const auto entry = message.find(key);
  return entry != message.end() && entry->is_number_integer() ? entry->get<std::int64_t>() : 0;
}

/// Words of lower-case letters only: the phase is printed on terminals and stands in reasons.
bool is_phase(const std::string& text) {
  return !text.empty() && text.size() <= kMaxBytesOfPhase &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
}

constexpr std::chrono::seconds kPatience{1};  // with a log that is a terminal or a pipe
constexpr int kLastReads = 2;                 // at least what a pipe of default size holds

nlohmann::ordered_json with_nonce(nlohmann::ordered_json body, const std::string& nonce) {
  body["nonce"] = nonce;
  return body;
}

std::string describe(const ExitStatus& exit) {
  if (exit.signal == 0) return "with exit status " + std::to_string(exit.code);
  return "by signal " + std::to_string(exit.signal) + " (" + strsignal(exit.signal) + ")";
}

/// A path may hold any bytes, and JSON holds UTF-8 alone. Throws ConfigError.
void check_is_utf8(const Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (find_invalid_utf8(text) == std::string::npos) return;
    throw ConfigError(printable(text) + ": workers can't be told of it; allowed: a path in UTF-8");
  }
  if (!value.is_structured()) return;
  for (const Json& part : value) check_is_utf8(part);
}

std::unique_ptr<RunningWorker> start_worker(const WorkerRequest& request,
                                            const nlohmann::ordered_json& body) {
  check_is_utf8(body);
  if (request.agent != nullptr) {
    return std::make_unique<RemoteWorker>(*request.agent, body, request.environment);
  }
  return std::make_unique<LocalWorker>(request.worker, body.dump(), request.environment);
}

}  // namespace

std::string make_nonce() {
  std::random_device source;
  const std::uint64_t high = source();
  return to_hex(high << 32 | source(), 16);
}

void BoundedLog::append(std::string_view text) {
  if (stopped_) return;
  const std::string_view part = text.substr(0, kMaxBytes - written_);
  const bool is_written = try_write(descriptor_, part, kPatience);
  written_ += part.size();
  if (is_written && part.size() == text.size()) return;
  stopped_ = true;
  if (!is_written) return;
  try_write(descriptor_, "\n[headroom: the worker printed more than 1 MiB; the rest is left out]\n",
            kPatience);
}

void WorkerMessages::take(std::string_view bytes) {
  while (fault_.empty() && !bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (unread_.size() + part.size() > kMaxMessageBytes) {
      fault_ = "the worker sent a message of more than 4 MiB";
      return;
    }
    unread_ += part;
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    take_line(unread_);
    unread_.clear();
  }
}

void WorkerMessages::take_line(std::string_view line) {
  try {
    take_message(read_json(line, {.bytes = kMaxMessageBytes}));
  } catch (const JsonError& error) {
    fault_ = std::string("the worker sent a message that is no JSON: ") + error.what();
  }
}

void WorkerMessages::take_message(const Json& message) {
  if (!message.is_object() || !is_text(message, "nonce", nonce_)) {
    fault_ = "the worker sent a message that is not of this conversation (wrong nonce)";
  } else if (!record_.is_null()) {
    fault_ = is_text(message, "event", "record") ? "the worker sent two records"
                                                 : "the worker sent a message after its record";
  } else if (is_text(message, "event", "record")) {
    record_ = message.value("record", Json());
    if (!record_.is_object()) fault_ = "the worker sent a record that is no object";
  } else if (is_text(message, "event", "progress")) {
    const auto phase = message.find("phase");
    if (phase == message.end() || !phase->is_string() || !is_phase(phase->get<std::string>())) {
      fault_ = "the worker sent progress with no phase";
      return;
    }
    last_ = {phase->get<std::string>(), count_of(message, "step"), count_of(message, "steps"),
             last_.messages + 1};
    on_progress_(last_);
  } else {
    fault_ = "the worker sent an unknown event";
  }
}

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
      silent_since_(last_message_),
      end_(start + request.total) {}

std::array<pollfd, 3> Conversation::awaited() const {
  // The end stays readable for ever; a negative number is passed over.
  if (exit_) return {{{-1, POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}}};
  return worker_->awaited();
}

Conversation::Clock::time_point Conversation::next_deadline() const {
  if (exit_) return Clock::time_point::max();
  if (killed_) return *kill_at_ + request_.unkillable;
  return kill_at_ ? *kill_at_ : std::min(silent_since_ + request_.silence, end_);
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
  if (!messages.empty()) last_message_ = silent_since_ = Clock::now();
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
    } else if (!kill_at_ && (now >= end_ || now >= silent_since_ + request_.silence)) {
      too_long_ = now >= end_;
      tell_to_end(Ending::timed_out, now);
    }
  }
  if (kill_at_ && !killed_ && (now >= *kill_at_ || interrupts > 1)) {
    killed_ = true;
    kill_at_ = now;
    worker_->send(SIGKILL);
  }
  if (killed_ && now >= *kill_at_ + request_.unkillable) {
    unended_ = worker_->give_up();
    exit_ = WorkerEnd{{0, SIGKILL}};
  }
}

void Conversation::excuse(Clock::duration pause, Clock::time_point now) {
  silent_since_ = now;
  end_ += pause;
  if (kill_at_) *kill_at_ += pause;
}

void Conversation::tell_to_end(Ending why, Clock::time_point now) {
  ending_ = why;
  end_by(now + request_.grace);
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
  reply.unended = unended_;
  if (unended_) {
    reply.reason =
        join_reasons(reply.reason, "SIGKILL did not end its process " + std::to_string(*unended_));
  }
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
      if (ending_ == Ending::interrupted && !unended_) return "";  // the user did not wait for it
      if (killed_ && !ending_) return "";  // nor did we, as another had gone wrong
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
