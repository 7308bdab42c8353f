// SPDX-License-Identifier: Apache-2.0
#include "src/workers/worker_call.h"

#include <poll.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "src/workers/conversation.h"

namespace headroom {
namespace {

using Clock = Conversation::Clock;

constexpr std::chrono::seconds kLastWord{1};  // for the others, where one went wrong
/// How often the loop looks at the clock. A round that took twice as long was no wait.
constexpr std::chrono::milliseconds kRound{500};

class Conversations {
 public:
  Conversations(const std::vector<WorkerRequest>& requests, Interrupts& interrupts,
                const std::function<void(const WorkerProgress&)>& on_progress)
      : interrupts_(interrupts) {
    const auto start = Clock::now();
    for (const WorkerRequest& request : requests) {
      const bool is_first = &request == requests.data();
      all_.emplace_back(
          request, start, is_first ? on_progress : [](const WorkerProgress&) {});
    }
  }

  std::vector<WorkerReply> run() {
    auto last_round = Clock::now();
    for (;;) {
      end_where_due();  // it also gives up those that can't be ended, and nothing wakes us for them
      if (have_all_ended()) break;
      wait();
      const auto now = Clock::now();
      const auto late = now - last_round - kRound;
      last_round = now;
      for (Conversation& each : all_) {
        if (late > kRound) each.excuse(late, now);
        each.take_in();
      }
    }
    std::vector<WorkerReply> replies;
    for (const Conversation& each : all_) {
      replies.push_back(each.reply());
      if (replies.back().unended) adopted_.spare(*replies.back().unended);
    }
    return replies;
  }

 private:
  bool have_all_ended() const {
    return std::all_of(all_.begin(), all_.end(), std::mem_fn(&Conversation::has_ended));
  }

  void end_where_due() {
    const auto now = Clock::now();
    const int interrupts = interrupts_.count();
    for (Conversation& each : all_) each.end_where_due(now, interrupts);
    const auto any = [&](auto is) { return std::any_of(all_.begin(), all_.end(), is); };
    if (is_lost_ || all_.size() == 1 || !any(std::mem_fn(&Conversation::went_wrong))) return;
    is_lost_ = true;
    // Ranks that wait for one another fall silent one soon after the other.
    if (any(std::mem_fn(&Conversation::timed_out))) {
      for (Conversation& each : all_) each.end_where_due(now + kLastWord, interrupts);
    }
    for (Conversation& each : all_) each.end_by(now + kLastWord);
  }

  void wait() {
    std::vector<pollfd> list{{interrupts_.descriptor(), POLLIN, 0}};
    auto deadline = Clock::time_point::max();
    for (const Conversation& each : all_) {
      const auto awaited = each.awaited();
      list.insert(list.end(), awaited.begin(), awaited.end());
      deadline = std::min(deadline, each.next_deadline());
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const auto timeout = std::clamp(left, std::chrono::milliseconds(0), kRound);
    poll(list.data(), list.size(), static_cast<int>(timeout.count()));
  }

  Interrupts& interrupts_;
  AdoptedProcesses adopted_;
  std::deque<Conversation> all_;
  bool is_lost_ = false;  // one went wrong: the others can come to nothing
};

}  // namespace

std::string describe(const WorkerProgress& progress) {
  std::string text = "phase " + progress.phase;
  if (progress.steps > 0) {
    text += ", step " + std::to_string(progress.step) + " of " + std::to_string(progress.steps);
  }
  return text;
}

std::vector<WorkerReply> call_workers(
    const std::vector<WorkerRequest>& requests, Interrupts& interrupts,
    const std::function<void(const WorkerProgress&)>& on_progress) {
  return Conversations(requests, interrupts, on_progress).run();
}

WorkerReply call_worker(const WorkerRequest& request, Interrupts& interrupts,
                        const std::function<void(const WorkerProgress&)>& on_progress) {
  return call_workers({request}, interrupts, on_progress).front();
}

}  // namespace headroom
