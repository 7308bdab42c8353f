// SPDX-License-Identifier: Apache-2.0
// The C library's waits of a thread until another wakes it, as PyTorch waits for backward and its
// watchdogs for the next look, and the C++ library's clocks, by which these see that it is time.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdint>
#include <ctime>

#include "src/dry_run/backward_thread.h"
#include "src/dry_run/dry_run.h"
#include "src/dry_run/watchdog.h"

namespace headroom::dry_run {
namespace {

/// By its version: below glibc 2.36 dlsym() finds an older one of x86-64, of other conditions.
template <class Function>
Function* original(const char* name) {
  void* found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  return reinterpret_cast<Function*>(found);
}

std::int64_t time_of(clockid_t id, Clock clock) {
  constexpr std::int64_t kNsInASecond = 1'000'000'000;
  timespec time{};
  clock_gettime(id, &time);
  return time.tv_sec * kNsInASecond + time.tv_nsec + ahead_ns(clock);
}

}  // namespace

HEADROOM_ENTRY int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto wait = original<decltype(pthread_cond_wait)>("pthread_cond_wait");
  const int result = wait(condition, mutex);
  let_backward_end();
  return result;
}

HEADROOM_ENTRY int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                          const timespec* until) {
  static const auto wait = original<decltype(pthread_cond_timedwait)>("pthread_cond_timedwait");
  return is_watchdog() ? wait_for_look(condition, mutex, wait) : wait(condition, mutex, until);
}

/// std::chrono::steady_clock::now() and std::chrono::system_clock::now(), in nanoseconds.
HEADROOM_ENTRY std::int64_t _ZNSt6chrono3_V212steady_clock3nowEv() {
  return time_of(CLOCK_MONOTONIC, Clock::steady);
}
HEADROOM_ENTRY std::int64_t _ZNSt6chrono3_V212system_clock3nowEv() {
  return time_of(CLOCK_REALTIME, Clock::system);
}

}  // namespace headroom::dry_run
