// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/watchdog.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/thread_name.h"

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kBetweenLooksNs = 100'000'000;  // as PyTorch has it
constexpr std::int64_t kNsInASecond = 1'000'000'000;
constexpr std::chrono::seconds kLongestLook{1};
constexpr std::chrono::milliseconds kBetweenCalls{1};
constexpr std::int64_t kIdleNs = 500'000'000;  // real time

struct Watchdog {
  pthread_cond_t* condition = nullptr;  // null: it does not wait
  bool is_due = false;
  bool is_looking = false;
};

/// Never destroyed: threads outlive the program's end.
struct Watchdogs {
  std::mutex mutex;
  std::condition_variable change;
  std::vector<Watchdog*> all;
  std::int64_t last_look_ns = 0;  // by the host that is played
  bool is_stuck = false;          // one did not come back: they look by the real clock from then on
};

Watchdogs& watchdogs() {
  static auto& them = *new Watchdogs;
  return them;
}

/// That of this thread, for as long as it lives.
class Own {
 public:
  Own() {
    const std::lock_guard lock(watchdogs().mutex);
    watchdogs().all.push_back(&own_);
  }
  ~Own() {
    const std::lock_guard lock(watchdogs().mutex);
    std::erase(watchdogs().all, &own_);
    watchdogs().change.notify_all();
  }
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;
  Watchdog& get() { return own_; }

 private:
  Watchdog own_;
};

std::atomic<std::int64_t> works_begun{0};
std::atomic<std::int64_t> works_over{0};

thread_local std::array<bool, 2> is_ahead{};  // by Clock

timespec behind(std::int64_t ns) {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  const std::int64_t sum = time.tv_nsec + ns;
  return {time.tv_sec + sum / kNsInASecond, sum % kNsInASecond};
}

}  // namespace

void let_watchdogs_look() {
  Watchdogs& them = watchdogs();
  std::unique_lock lock(them.mutex);
  const std::int64_t now = dry_run().timeline.host_now_ns();
  if (now < them.last_look_ns + kBetweenLooksNs || them.is_stuck) return;
  them.last_look_ns = now - now % kBetweenLooksNs;
  for (Watchdog* each : them.all) each->is_due = true;
  const auto have_looked = [&] {
    return std::ranges::none_of(them.all, [](const Watchdog* each) { return each->is_due; });
  };
  const auto begin = std::chrono::steady_clock::now();
  while (!have_looked()) {
    for (Watchdog* each : them.all) {
      if (each->condition != nullptr) pthread_cond_broadcast(each->condition);
    }
    them.change.wait_for(lock, kBetweenCalls);
    them.is_stuck = std::chrono::steady_clock::now() - begin > kLongestLook;
    if (them.is_stuck) return;
  }
}

bool is_watchdog() {
  thread_local const bool is = is_thread_named("pt_nccl_watchdg");
  return is;
}

AtWork::AtWork() { ++works_begun; }
AtWork::~AtWork() { ++works_over; }

int wait_for_look(pthread_cond_t* condition, pthread_mutex_t* mutex, TimedWait wait) {
  thread_local Own this_one;
  Watchdogs& them = watchdogs();
  Watchdog& own = this_one.get();
  std::unique_lock lock(them.mutex);
  if (own.is_looking) own.is_due = false;  // it has just looked
  own.is_looking = false;
  own.condition = condition;
  them.change.notify_all();
  while (true) {
    const std::int64_t before = dry_run().timeline.host_now_ns();
    const std::int64_t over_before = works_over;
    const timespec until = behind(kIdleNs);
    if (!own.is_due) {
      lock.unlock();
      const int result = wait(condition, mutex, &until);
      lock.lock();
      const bool is_woken = result == 0 && !own.is_due;
      if (is_woken) {
        own.condition = nullptr;
        Timeline::look_on({});  // as it may be the last time, and waits for all to be over
        return result;
      }
    }
    const bool is_at_work = works_begun != over_before;
    const bool is_idle =
        them.is_stuck || (!is_at_work && dry_run().timeline.host_now_ns() == before);
    if (!own.is_due && !is_idle) continue;
    own.condition = nullptr;
    own.is_looking = own.is_due;
    is_ahead = {true, true};
    Timeline::look_on(own.is_looking ? std::optional(them.last_look_ns) : std::nullopt);
    return ETIMEDOUT;
  }
}

std::int64_t ahead_ns(Clock clock) {
  bool& is = is_ahead[static_cast<std::size_t>(clock)];
  if (!is) return 0;
  is = false;
  return kBetweenLooksNs;
}

}  // namespace headroom::dry_run
