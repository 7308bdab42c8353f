// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/backward_thread.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include "src/dry_run/thread_name.h"

namespace headroom::dry_run {
namespace {

constexpr std::chrono::seconds kLongestWait{1};  // it may go on with work of its own
constexpr std::chrono::microseconds kBetweenLooks{20};

struct LastCall {
  std::atomic<pid_t> thread = 0;
  std::atomic<std::int64_t> number = 0;  // counted from 1; 0: there was none
};

LastCall& last_call() {
  static auto& last = *new LastCall;
  return last;
}

/// Whether a thread of this process is neither running nor ready to, or has ended.
bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos || text.size() < name_end + 3 || text[name_end + 2] != 'R';
}

}  // namespace

void let_backward_end() {
  thread_local const bool is_backward = is_thread_named("pt_autograd_");
  thread_local std::int64_t seen = 0;
  LastCall& last = last_call();
  if (is_backward) {
    thread_local const auto own = static_cast<pid_t>(syscall(SYS_gettid));
    last.thread = own;
    ++last.number;
    return;
  }
  const std::int64_t number = last.number;
  if (number == seen) return;
  seen = number;
  const auto begin = std::chrono::steady_clock::now();
  while (last.number == number && !sleeps(last.thread)) {
    if (std::chrono::steady_clock::now() - begin > kLongestWait) return;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace headroom::dry_run
