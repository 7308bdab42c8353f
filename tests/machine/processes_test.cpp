// SPDX-License-Identifier: Apache-2.0
#include "src/machine/processes.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWindow{600};

void work_until(Clock::time_point end) {
  volatile std::uint64_t sum = 0;
  while (Clock::now() < end) sum = sum + 1;
}

/// The same, within the kernel.
void call_until(Clock::time_point end) {
  std::vector<char> buffer(1 << 20);
  const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  while (Clock::now() < end && read(zeros, buffer.data(), buffer.size()) > 0) continue;
  close(zeros);
}

/// Binds the caller to the first core it may use, so that one process is enough to fill it.
void bind_to_one_core() {
  cpu_set_t cores;
  ASSERT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  int first = 0;
  while (!CPU_ISSET(first, &cores)) ++first;
  CPU_ZERO(&cores);
  CPU_SET(first, &cores);
  ASSERT_EQ(sched_setaffinity(0, sizeof cores, &cores), 0);
}

struct Shares {
  double as_alone = -1;  // percent of all cores
  double as_one_of_several = -1;
  double of_other = 0;  // what the other process took by the kernel's account of it
};

/// The shares that others have while this process works, which leaves half of a core at most,
/// beside a copy of this one that does `work`.
Shares shares_beside(void (*work)(Clock::time_point)) {
  Shares shares;
  std::thread bound([&] {
    bind_to_one_core();
    const OtherLoad as_alone(true);
    const OtherLoad as_one_of_several(false);
    const pid_t other = fork();
    if (other == 0) {
      work(Clock::now() + std::chrono::seconds(20));
      _exit(0);
    }
    work_until(Clock::now() + kWindow);
    shares.as_alone = as_alone.percent().value_or(-1);
    shares.as_one_of_several = as_one_of_several.percent().value_or(-1);
    kill(other, SIGKILL);
    rusage usage{};
    wait4(other, nullptr, 0, &usage);
    const double seconds =
        static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
        static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    const double window = std::chrono::duration<double>(kWindow).count();
    shares.of_other = 100 * seconds / window / std::thread::hardware_concurrency();
  });
  bound.join();
  return shares;
}

TEST(OtherLoad, is_what_another_process_took) {
  EXPECT_GT(shares_beside(work_until).as_alone, 25.0 / std::thread::hardware_concurrency());
}

// Others may be busy or not: they are so in both figures.
TEST(OtherLoad, of_several_ranks_leaves_out_this_program) {
  for (auto* const work : {work_until, call_until}) {
    const Shares shares = shares_beside(work);
    EXPECT_GE(shares.as_one_of_several, 0);
    EXPECT_NEAR(shares.as_alone - shares.as_one_of_several, shares.of_other, shares.of_other / 2);
  }
}

TEST(OtherLoad, is_unknown_before_a_tick_has_passed) {
  int unknown = 0;
  for (int i = 0; i < 20; ++i) unknown += OtherLoad(true).percent().has_value() ? 0 : 1;
  EXPECT_GT(unknown, 0);
}

constexpr std::int64_t kMib = 1024 * 1024;

TEST(ProcessMemoryTest, ThePeakGrowsWithWhatIsTouched) {
  const std::int64_t before = host_peak_bytes().value();
  EXPECT_GT(before, 10 * kMib);  // the libraries alone
  const at::Tensor touched = at::ones({400 * kMib}, at::kByte);
  EXPECT_GE(host_peak_bytes().value(), 400 * kMib);
  EXPECT_GE(host_peak_bytes().value(), before);
  rusage usage{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  const double by_the_kernel = 1024.0 * static_cast<double>(usage.ru_maxrss);
  EXPECT_NEAR(static_cast<double>(host_peak_bytes().value()), by_the_kernel, by_the_kernel / 100);
}

TEST(ProcessMemoryTest, TheSystemHasMemoryLeft) { EXPECT_GT(available_host_bytes().value(), kMib); }

/// In a process of its own: the limit holds for good.
void allocate_under_a_limit() {
  limit_host_memory(256 * kMib);
  const at::Tensor fits = at::ones({64 * kMib}, at::kByte);
  try {
    at::empty({1024 * kMib}, at::kByte);
  } catch (const c10::Error& error) {
    std::cerr << error.what_without_backtrace() << std::endl;
    std::_Exit(fits.defined() ? 7 : 1);
  }
  std::_Exit(0);
}

TEST(ProcessMemoryDeathTest, BeyondTheLimitAnAllocationFailsAndCanBeCaught) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(allocate_under_a_limit(), testing::ExitedWithCode(7), "can't allocate memory");
}

}  // namespace
}  // namespace headroom
