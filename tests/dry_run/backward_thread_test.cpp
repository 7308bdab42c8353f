// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/backward_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace headroom::dry_run {
namespace {

using Clock = std::chrono::steady_clock;

void work_for(std::chrono::milliseconds time) {
  for (const auto begin = Clock::now(); Clock::now() - begin < time;) {
  }
}

TEST(BackwardThread, HasGivenBackWhatItHeldBeforeAnotherGoesOn) {
  std::promise<void> is_over;
  std::promise<void> is_read;
  std::atomic<bool> has_given_back = false;
  std::thread backward([&] {
    pthread_setname_np(pthread_self(), "pt_autograd_0");
    let_backward_end();
    is_over.set_value();
    work_for(std::chrono::milliseconds(2));
    has_given_back = true;
    is_read.get_future().wait();
  });
  is_over.get_future().wait();
  let_backward_end();
  EXPECT_TRUE(has_given_back);
  is_read.set_value();
  backward.join();
}

}  // namespace
}  // namespace headroom::dry_run
