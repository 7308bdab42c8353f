// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <latch>
#include <thread>
#include <vector>

#include "tests/support/seeded.h"

namespace headroom {

inline constexpr int kThreads = 4;

/// Runs `work(number, random)` on threads that begin together, and waits for all of them.
template <class Work>
void on_threads(const Work& work) {
  std::latch all_there(kThreads);
  std::vector<std::jthread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      std::mt19937 random = seeded_random(number);
      all_there.arrive_and_wait();
      work(number, random);
    });
  }
}

}  // namespace headroom
