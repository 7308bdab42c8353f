// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cstdint>
#include <ctime>

// PyTorch's watchdogs of NCCL, a thread for each process group: every 100 ms one looks which
// collectives are over. Of those that nobody waited for it hands over what they hold, which the
// next collective gives back. A plan is faster or slower than the program that it plays, so they
// look by the clock of the host that is played; by the real one peaks differ from run to run.
namespace headroom::dry_run {

/// To be called where a collective begins, as what a look finds is given back there and nowhere
/// else. All watchdogs have had their last look when it returns, and saw what was over then.
void let_watchdogs_look();

/// Whether this thread is one, by its name, which it has in PyTorch 2.4 and later.
bool is_watchdog();

using TimedWait = int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*);

/// The wait of a watchdog between two looks, by `wait`, that of the C library. It ends in time for
/// the next look, where another thread wakes it, or where no time passes for the host that is
/// played, as it is busy or waits for watchdogs.
int wait_for_look(pthread_cond_t* condition, pthread_mutex_t* mutex, TimedWait wait);

/// While one lives the dry run computes what the program computes on its GPU. No time passes for
/// its host, which is not idle.
class AtWork {
 public:
  AtWork();
  ~AtWork();
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
};

enum class Clock { steady, system };

/// What a clock is to be ahead of the real one, for this thread, this time: behind a wait that
/// ended early, the thread looks whether its time is over by each once.
std::int64_t ahead_ns(Clock clock);

}  // namespace headroom::dry_run
