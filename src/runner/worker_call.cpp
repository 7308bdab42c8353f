// SPDX-License-Identifier: Apache-2.0
#include "src/runner/worker_call.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <optional>
#include <random>

#include "src/core/checksum.h"
#include "src/runner/bounded_log.h"
#include "src/runner/oom_kills.h"
#include "src/runner/worker_messages.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;
using Ending = WorkerReply::Ending;

constexpr std::chrono::seconds kGrace{5};        // between SIGTERM and SIGKILL
constexpr std::chrono::seconds kUnkillable{30};  // a driver can hold a process in the kernel
constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kPipeBytes = 128 * 1024;  // at least what a pipe of default size holds

std::string make_nonce() {
  std::random_device source;
  const std::uint64_t high = source();
  return to_hex(high << 32 | source(), 16);
}

nlohmann::ordered_json with_nonce(nlohmann::ordered_json body, const std::string& nonce) {
  body["nonce"] = nonce;
  return body;
}

std::string describe(const WorkerProgress& progress) {
  std::string text = "phase " + progress.phase;
  if (progress.steps > 0) {
    text += ", step " + std::to_string(progress.step) + " of " + std::to_string(progress.steps);
  }
  return text;
}

std::string describe(const ExitStatus& exit) {
  if (exit.signal == 0) return "with exit status " + std::to_string(exit.code);
  return "by signal " + std::to_string(exit.signal) + " (" + strsignal(exit.signal) + ")";
}

/// At most 64 KiB of what a pipe holds, so that neither of two pipes keeps the other waiting, nor
/// the deadlines. Nothing: the pipe is empty for now; empty: it is closed.
std::optional<std::string_view> read_some(int descriptor, std::array<char, kReadBytes>& buffer) {
  const ssize_t count = read(descriptor, buffer.data(), buffer.size());
  if (count < 0) return std::nullopt;
  return std::string_view(buffer.data(), static_cast<std::size_t>(count));
}

class Conversation {
 public:
  Conversation(const WorkerRequest& request, Interrupts& interrupts,
               const std::function<void(const WorkerProgress&)>& on_progress)
      : Conversation(request, interrupts, make_nonce(), on_progress) {}

  WorkerReply run() {
    while (!exit_) {
      end_where_due();
      wait();
      read_pipes();
      if (const auto exit = process_.try_wait()) exit_ = exit;
    }
    // What it said last: no more than the pipes hold, as something it left behind may go on.
    for (std::size_t read = 0; read < kPipeBytes; read += kReadBytes) read_pipes();
    return reply();
  }

 private:
  Conversation(const WorkerRequest& request, Interrupts& interrupts, const std::string& nonce,
               const std::function<void(const WorkerProgress&)>& on_progress)
      : request_(request),
        interrupts_(interrupts),
        messages_(nonce, on_progress),
        log_(request.log),
        oom_kills_(count_oom_kills()),
        process_({request.worker}, with_nonce(request.body, nonce).dump(), request.environment),
        last_message_(Clock::now()),
        end_(last_message_ + request.total) {}

  Clock::time_point next_deadline() const {
    if (killed_) return kill_at_ + kUnkillable;
    return ending_ ? kill_at_ : std::min(last_message_ + request_.silence, end_);
  }

  void wait() {
    // A closed pipe stays readable for ever; a negative number takes it out of the list.
    std::array<pollfd, 4> list{{{process_.ended(), POLLIN, 0},
                                {messages_open_ ? process_.messages() : -1, POLLIN, 0},
                                {output_open_ ? process_.output() : -1, POLLIN, 0},
                                {interrupts_.descriptor(), POLLIN, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_deadline() - Clock::now());
    const auto most = std::chrono::milliseconds(3'600'000);  // poll counts in int
    const auto timeout = std::clamp(left, std::chrono::milliseconds(0), most);
    poll(list.data(), list.size(), static_cast<int>(timeout.count()));
  }

  void read_pipes() {
    const auto message = messages_open_ ? read_some(process_.messages(), buffer_) : std::nullopt;
    if (message) {
      messages_open_ = !message->empty();
      last_message_ = message->empty() ? last_message_ : Clock::now();
      if (!ending_) messages_.take(*message);  // what comes too late does not count
    }
    const auto printed = output_open_ ? read_some(process_.output(), buffer_) : std::nullopt;
    if (printed) {
      output_open_ = !printed->empty();
      log_.append(*printed);
    }
  }

  void end_where_due() {
    const auto now = Clock::now();
    if (!ending_) {
      if (!messages_.fault().empty()) {
        begin_end(Ending::broken);
      } else if (interrupts_.count() > 0) {
        begin_end(Ending::interrupted);
      } else if (now >= end_ || now >= last_message_ + request_.silence) {
        too_long_ = now >= end_;
        begin_end(Ending::timed_out);
      }
    }
    if (ending_ && !killed_ && (now >= kill_at_ || interrupts_.count() > 1)) {
      killed_ = true;
      kill_at_ = now;
      process_.send(SIGKILL);
    }
    if (killed_ && now >= kill_at_ + kUnkillable) exit_ = ExitStatus{0, SIGKILL};
  }

  void begin_end(Ending why) {
    ending_ = why;
    kill_at_ = Clock::now() + kGrace;
    process_.send(SIGTERM);
  }

  WorkerReply reply() const {
    WorkerReply reply;
    reply.exit = *exit_;
    reply.last = messages_.last();
    reply.ending = final_ending();
    if (reply.ending == Ending::answered) reply.record = messages_.record();
    reply.reason = reason(reply.ending);
    if (reply.ending == Ending::crashed && reply.exit.signal == SIGKILL) {
      reply.killed_for_memory = oom_kills_ && count_oom_kills().value_or(0) > *oom_kills_;
    }
    return reply;
  }

  Ending final_ending() const {
    if (!messages_.fault().empty()) return Ending::broken;
    // A record was complete when it came: how the worker ended after it does not undo it.
    if (!messages_.record().is_null()) return Ending::answered;
    return ending_.value_or(Ending::crashed);
  }

  std::string reason(Ending ending) const {
    const std::string where = " in " + describe(messages_.last());
    switch (ending) {
      case Ending::answered:
        if (ending_) return "the worker did not end after its record";
        if (*exit_ == ExitStatus{}) return "";
        return "the worker ended " + describe(*exit_) + " after its record";
      case Ending::crashed:
        return "the worker ended " + describe(*exit_) + where + ", with no record";
      case Ending::broken:
        return messages_.fault();
      case Ending::timed_out:
        return too_long_
                   ? "not done after " + std::to_string(request_.total.count()) + " s" + where
                   : "no message for " + std::to_string(request_.silence.count()) + " s" + where;
      case Ending::interrupted:
        return "interrupted" + where;
    }
    return "";
  }

  const WorkerRequest& request_;
  Interrupts& interrupts_;
  WorkerMessages messages_;
  BoundedLog log_;
  std::optional<std::int64_t> oom_kills_;  // before the worker started
  Process process_;
  Clock::time_point last_message_;
  Clock::time_point end_;
  Clock::time_point kill_at_;
  std::optional<Ending> ending_;  // why it was told to end
  std::optional<ExitStatus> exit_;
  bool too_long_ = false;
  bool killed_ = false;
  bool messages_open_ = true;
  bool output_open_ = true;
  std::array<char, kReadBytes> buffer_;
};

}  // namespace

WorkerReply call_worker(const WorkerRequest& request, Interrupts& interrupts,
                        const std::function<void(const WorkerProgress&)>& on_progress) {
  return Conversation(request, interrupts, on_progress).run();
}

}  // namespace headroom
