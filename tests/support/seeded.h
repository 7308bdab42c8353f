// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>

// Tests that draw numbers: others with each --gtest_random_seed where tests are shuffled, as
// tests/campaign/races.py does, else the same ones always.
namespace headroom {

/// `number`: of the thread that draws.
inline std::mt19937 seeded_random(int number = 0) {
  const int seed = testing::UnitTest::GetInstance()->random_seed();
  return std::mt19937(static_cast<unsigned>(seed * 64 + number));
}

/// Sleeps for less than so many microseconds, or not at all.
inline void sleep_up_to(std::mt19937& random, unsigned microseconds) {
  const unsigned time = random() % microseconds;
  if (random() % 4 != 0) std::this_thread::sleep_for(std::chrono::microseconds(time));
}

}  // namespace headroom
