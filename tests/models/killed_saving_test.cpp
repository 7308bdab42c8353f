// SPDX-License-Identifier: Apache-2.0
// A process that saves weights is killed before each of its system calls: what lies there then is
// read as the old weights or as the new ones, or refused.
#include <ATen/ops/full.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "models/saved_weights.h"
#include "src/core/error.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

/// Both ranks' parts, one after the other.
void save(const std::string& folder, const std::string& name, double value) {
  const at::Tensor values = at::full({3, 4}, value);
  for (const std::int64_t rank : {0, 1}) {
    const WeightPart part{
        "w", {.shape = {6, 4}, .dimension = 0, .rows = {{3 * rank, 3 * rank + 3}}}, values};
    write_weight_parts(folder, {rank, 2, name}, std::span(&part, 1));
  }
}

/// "1" or "2", where all of the weights have that value; "refused".
std::string read_back(const std::string& folder) {
  try {
    const at::Tensor whole = SavedWeights(folder).read("w");
    for (const int value : {1, 2}) {
      if (whole.eq(value).all().item<bool>()) return std::to_string(value);
    }
    return "a mixture";
  } catch (const ConfigError& error) {
    const bool is_known = std::string(error.what()).find("not of one saving") != std::string::npos;
    return is_known ? "refused" : error.what();
  }
}

/// Runs `work` in a process that is killed where it begins or ends its `count`-th system call.
/// False: it came to its end before. Nothing: it can't be watched here.
std::optional<bool> kill_at_call(int count, const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    work();
    _exit(0);
  }
  int status = 0;
  for (int stops = 0; waitpid(child, &status, 0) == child && WIFSTOPPED(status); ++stops) {
    if (stops < count) {
      ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    } else {
      kill(child, SIGKILL);
    }
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1) return std::nullopt;
  return WIFSIGNALED(status);
}

TEST(KilledSaving, LeavesOldWeightsOrNewOnesOrWhatIsRefused) {
  std::set<std::string> seen;
  std::optional<bool> was_killed = true;
  for (int count = 1; was_killed == true; ++count) {
    const TemporaryFolder folder;
    save(folder.path(), "old", 1);
    was_killed = kill_at_call(count, [&] { save(folder.path(), "new", 2); });
    if (!was_killed) GTEST_SKIP() << "no process can be watched here";
    const std::string left = read_back(folder.path());
    EXPECT_TRUE(left == "1" || left == "2" || left == "refused") << count << ": " << left;
    seen.insert(left);
    save(folder.path(), "again", 2);
    EXPECT_EQ(read_back(folder.path()), "2");
  }
  EXPECT_EQ(seen, (std::set<std::string>{"1", "2", "refused"}));
}

}  // namespace
}  // namespace headroom
