// SPDX-License-Identifier: Apache-2.0
#include "src/workers/agent.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "src/core/error.h"
#include "src/core/tcp.h"
#include "src/core/text.h"
#include "src/workers/worker.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxBytesOfWord = 4096;  // before a welcome
constexpr std::size_t kMaxBytesOfOrder = 1024 * 1024;
constexpr std::size_t kMaxUnsentBytes = 256 * 1024;  // then its worker has to wait
constexpr std::chrono::milliseconds kPause{200};     // between two calls
constexpr std::chrono::seconds kAfterInterrupt{10};
constexpr int kCouldNotStart = 127;  // as a shell says it

std::chrono::milliseconds until(Clock::time_point time) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now());
  return std::clamp(left, std::chrono::milliseconds(0), std::chrono::milliseconds(3'600'000));
}

/// The runner's first word. Throws std::runtime_error where it says none until then.
Frame hear(Connection& runner, Clock::time_point deadline) {
  for (;;) {
    pollfd wait = runner.awaited();
    const bool silent = poll(&wait, 1, static_cast<int>(until(deadline).count())) == 0;
    runner.exchange();
    if (auto frame = runner.next()) return *frame;
    if (!runner.lost().empty()) throw std::runtime_error(runner.lost());
    if (silent) throw std::runtime_error("nothing was said");
  }
}

/// What an agent does from its welcome to the end.
class AgentLoop {
 public:
  AgentLoop(Connection& runner, const Launch& launch, ProgramFile& worker, Interrupts& interrupts)
      : runner_(runner), launch_(launch), program_(worker), interrupts_(interrupts) {}

  std::string run() {
    for (;;) {
      // First what has come already: an order can come in one piece with the welcome.
      while (const auto frame = runner_.next()) {
        if (frame->kind == FrameKind::over) return "";
        if (!obey(*frame)) return "rank 0 asked for what no agent does";
      }
      if (!runner_.lost().empty()) return "the connection to rank 0 was lost: " + runner_.lost();
      pass_on();
      wait();
      if (const auto why = why_interrupted()) return *why;
      runner_.exchange();
    }
  }

 private:
  /// A worker, and what it may leave behind.
  struct Work {
    AdoptedProcesses adopted;
    LocalWorker worker;
    bool has_spoken = false;

    Work(const std::string& program, const WorkOrder& order)
        : worker(program, order.request.dump(),
                 order.threads.empty() ? Environment{} : Environment{{kThreads, order.threads}}) {}
    ~Work() {
      // It is waited for once, and not again among what it left behind.
      if (const auto unended = worker.end()) adopted.spare(*unended);
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
  };

  bool may_pass_on() const { return work_ && runner_.unsent_bytes() < kMaxUnsentBytes; }

  void wait() const {
    std::vector<pollfd> list{{interrupts_.descriptor(), POLLIN, 0}, runner_.awaited()};
    if (may_pass_on()) {
      const auto awaited = work_->worker.awaited();
      list.insert(list.end(), awaited.begin(), awaited.end());
    }
    const auto deadline =
        interrupted_at_ ? *interrupted_at_ + kAfterInterrupt : Clock::time_point::max();
    poll(list.data(), list.size(), static_cast<int>(until(deadline).count()));
  }

  std::optional<std::string> why_interrupted() {
    const int count = interrupts_.count();
    if (count == 0) return std::nullopt;
    const auto now = Clock::now();
    if (!interrupted_at_) interrupted_at_ = now;
    if (count == 1 && now < *interrupted_at_ + kAfterInterrupt) return std::nullopt;
    return "interrupted";
  }

  /// False: no agent does that.
  bool obey(const Frame& frame) {
    if (frame.kind == FrameKind::start) return start(frame.payload);
    if (frame.kind != FrameKind::signal) return false;
    for (const int signal : {SIGTERM, SIGKILL}) {
      if (frame.payload != std::to_string(signal)) continue;
      if (work_) work_->worker.send(signal);  // else it has just ended
      return true;
    }
    return false;
  }

  bool start(const std::string& text) {
    const auto order = read_order(text, launch_);
    if (!order || work_) return false;
    if (!has_same_program()) return true;
    try {
      work_.emplace(program_.path(), *order);
    } catch (const std::system_error& error) {
      runner_.send({FrameKind::output, std::string("headroom: ") + error.what() + "\n"});
      runner_.send({FrameKind::ended, to_text(WorkerEnd{{kCouldNotStart, 0}})});
    }
    return true;
  }

  /// False: it is another one by now, or gone, and the runner was told so in place of a result.
  bool has_same_program() {
    try {
      program_.check_is_the_same();
      return true;
    } catch (const std::exception& error) {
      work_.reset();
      runner_.send({FrameKind::refused, error.what()});
      return false;
    }
  }

  void pass_on() {
    if (!may_pass_on()) return;
    const auto end = work_->worker.try_wait();
    const std::string_view messages = work_->worker.read_messages();
    // It may have been replaced just before its start. What is replaced later changes nothing here.
    const bool is_first = !messages.empty() || end;
    if (is_first && !std::exchange(work_->has_spoken, true) && !has_same_program()) return;
    pass_on(messages);
    if (!end) return;
    // No more than the pipes hold, as something that the worker left behind may go on.
    pass_on(work_->worker.read_messages());
    pass_on(work_->worker.read_messages());
    work_.reset();  // all is gone before the runner hears of it
    runner_.send({FrameKind::ended, to_text(*end)});
  }

  void pass_on(std::string_view messages) {
    if (!messages.empty()) runner_.send({FrameKind::message, std::string(messages)});
    const std::string_view output = work_->worker.read_output();
    if (!output.empty()) runner_.send({FrameKind::output, std::string(output)});
  }

  Connection& runner_;
  const Launch& launch_;
  ProgramFile& program_;
  Interrupts& interrupts_;
  std::optional<Work> work_;
  std::optional<Clock::time_point> interrupted_at_;
};

}  // namespace

Connection call_runner(const Launch& launch, const Hello& hello, std::chrono::seconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const std::string name = "rank " + std::to_string(launch.rank);
  std::string reason;
  do {
    try {
      Connection runner(connect_to(launch.master_address, launch.runner_port(), until(deadline)),
                        kMaxBytesOfWord);
      runner.send({FrameKind::hello, to_text(hello)});
      const Frame word = hear(runner, deadline);
      if (word.kind == FrameKind::welcome) {
        runner.allow(kMaxBytesOfOrder);
        return runner;
      }
      if (word.kind == FrameKind::refused) {
        throw Unsupported(name + " was refused by rank 0: " + printable(word.payload));
      }
      reason = "what answers there is no runner";
    } catch (const Unsupported&) {
      throw;
    } catch (const std::runtime_error& error) {
      reason = error.what();
    }
    std::this_thread::sleep_for(std::min(kPause, until(deadline)));
  } while (Clock::now() < deadline);
  throw Unsupported(name + " could not reach rank 0 at " + launch.master_address + ":" +
                    std::to_string(launch.runner_port()) + " (MASTER_ADDR, MASTER_PORT + 1) for " +
                    std::to_string(timeout.count()) + " s: " + reason);
}

std::string serve_runner(Connection& runner, const Launch& launch, ProgramFile& worker,
                         Interrupts& interrupts) {
  return AgentLoop(runner, launch, worker, interrupts).run();
}

}  // namespace headroom
