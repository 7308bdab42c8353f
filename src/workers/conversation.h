// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "src/workers/worker.h"
#include "src/workers/worker_call.h"

namespace headroom {

/// 16 hexadecimal digits that nobody knows before.
std::string make_nonce();

/// Passes on what a worker prints, up to 1 MiB; says once where it stopped.
class BoundedLog {
 public:
  /// Writes to `descriptor`, which stays the caller's.
  explicit BoundedLog(int descriptor) : descriptor_(descriptor) {}

  /// A log that can't be written (a full disk) must not cost the measurement: errors are ignored.
  void append(std::string_view text);

 private:
  static constexpr std::size_t kMaxBytes = 1024 * 1024;

  int descriptor_;
  std::size_t written_ = 0;
  bool stopped_ = false;
};

/// The messages of one worker, read strictly. It may be any program, so nothing is taken on trust.
class WorkerMessages {
 public:
  WorkerMessages(std::string nonce, std::function<void(const WorkerProgress&)> on_progress)
      : nonce_(std::move(nonce)), on_progress_(std::move(on_progress)) {}

  /// Takes more bytes of the pipe. After the first fault nothing more is read.
  void take(std::string_view bytes);

  const nlohmann::ordered_json& record() const { return record_; }  // null: none so far
  const WorkerProgress& last() const { return last_; }
  const std::string& fault() const { return fault_; }  // empty: all is well

 private:
  void take_line(std::string_view line);
  void take_message(const nlohmann::ordered_json& message);

  std::string nonce_;
  std::function<void(const WorkerProgress&)> on_progress_;
  std::string unread_;  // the beginning of a line
  nlohmann::ordered_json record_;
  WorkerProgress last_;
  std::string fault_;
};

/// One worker, from its start to its end. It never waits: whoever holds it polls what it awaits,
/// and calls take_in() and end_where_due() in turn until it has ended. Several go on side by side.
class Conversation {
 public:
  using Clock = std::chrono::steady_clock;

  /// Starts the worker; `start` is when its time began to run. `request` outlives the conversation.
  /// Throws std::system_error where the worker can't be started, ConfigError where a text of the
  /// request is no UTF-8.
  Conversation(const WorkerRequest& request, Clock::time_point start,
               std::function<void(const WorkerProgress&)> on_progress);

  /// What to poll for, to read.
  std::array<pollfd, 3> awaited() const;
  /// When end_where_due() has something to do although nothing came.
  Clock::time_point next_deadline() const;

  /// Reads some of what has come, all of it once the worker has ended.
  void take_in();
  /// Tells a worker to end that broke the protocol, or whose time is up, or that was interrupted
  /// (so many times); kills one whose grace is over.
  void end_where_due(Clock::time_point now, int interrupts);
  /// Takes `pause`, in which the runner itself did not run, off the worker's time, and begins its
  /// silence anew at `now`: it may have been stopped as well.
  void excuse(Clock::duration pause, Clock::time_point now);
  /// Kills the worker at that time, if it has not ended before: it is waited for no longer.
  void end_by(Clock::time_point time);

  bool has_ended() const { return exit_.has_value(); }
  /// It has ended without a record, or with one that is not `ok`, or is told to end without one;
  /// other than by the user.
  bool went_wrong() const;
  /// It is told to end without a record, since its time is up.
  bool timed_out() const;
  /// Once it has ended.
  WorkerReply reply() const;

 private:
  using Ending = WorkerReply::Ending;

  Conversation(const WorkerRequest& request, Clock::time_point start, const std::string& nonce,
               std::function<void(const WorkerProgress&)> on_progress);

  void read();
  void tell_to_end(Ending why, Clock::time_point now);
  Ending final_ending() const;
  std::string reason(Ending ending) const;

  const WorkerRequest& request_;
  WorkerMessages messages_;
  BoundedLog log_;
  std::unique_ptr<RunningWorker> worker_;
  Clock::time_point last_message_;
  Clock::time_point silent_since_;
  Clock::time_point end_;
  Clock::time_point exited_at_;
  std::optional<Clock::time_point> kill_at_;
  std::optional<Ending> ending_;  // why it was told to end
  std::optional<WorkerEnd> exit_;
  std::optional<pid_t> unended_;  // see WorkerReply
  bool too_long_ = false;
  bool killed_ = false;
};

}  // namespace headroom
