// SPDX-License-Identifier: Apache-2.0
#include "src/workers/process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "tests/runner/program.h"

namespace headroom {
namespace {

/// A root with one file below /sys/fs/cgroup and one /proc/self/cgroup.
void write_root(const TemporaryFolder& root, const std::string& groups, const std::string& file,
                const std::string& text) {
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(std::filesystem::path(root / file).parent_path());
  root.write("proc/self/cgroup", groups);
  root.write(file, text);
}

TEST(OomKills, are_counted_in_both_versions_of_cgroups) {
  const TemporaryFolder v1;
  write_root(v1, "9:name=systemd:/\n4:cpu,memory:/a/b\n0::/\n",
             "sys/fs/cgroup/memory/a/b/memory.oom_control",
             "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  EXPECT_EQ(count_oom_kills(v1.path()), 3);
  const TemporaryFolder v2;
  write_root(v2, "0::/a\n", "sys/fs/cgroup/a/memory.events", "low 0\noom 5\noom_kill 4\n");
  EXPECT_EQ(count_oom_kills(v2.path()), 4);
}

TEST(OomKills, are_unknown_where_nothing_counts) {
  const TemporaryFolder none;
  EXPECT_EQ(count_oom_kills(none.path()), std::nullopt);
  const TemporaryFolder old;
  write_root(old, "4:memory:/\n", "sys/fs/cgroup/memory/memory.oom_control", "under_oom 0\n");
  EXPECT_EQ(count_oom_kills(old.path()), std::nullopt);
}

int number_in(const std::string& path) {
  std::ifstream file(path);
  int number = -1;
  file >> number;
  return number;
}

/// The numbers of a runner, and of its worker, that is at work.
struct AtWork {
  TemporaryFolder folder;
  Program program;
  pid_t worker = 0;

  explicit AtWork(const std::function<void()>& prepare)
      : program(
            start_program({"run", folder.write("suite.yaml", suite_of({"hang"}, "{silence_s: 60}")),
                           "--out", folder / "out"},
                          prepare)) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const std::string log = folder / "out/log/hang.log";
    while (std::chrono::steady_clock::now() < end &&
           (!std::filesystem::exists(log) || read_text(log).empty())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const auto children = program.workers();
    if (!children.empty()) worker = children.front();
  }
  ~AtWork() {
    program.send(SIGKILL);
    program.wait();
  }
  int of_runner(const std::string& what) const {
    return number_in("/proc/" + std::to_string(program.pid()) + "/" + what);
  }
  int of_worker(const std::string& what) const {
    return number_in("/proc/" + std::to_string(worker) + "/" + what);
  }
};

TEST(OomKills, take_the_worker_before_the_runner) {
  const AtWork run([] {});
  ASSERT_GT(run.worker, 0);
  EXPECT_EQ(run.of_worker("oom_score_adj"), run.of_runner("oom_score_adj") + 500);
  // By the kernel's own reckoning, memory and all: the one of the higher score is taken first.
  EXPECT_GT(run.of_worker("oom_score"), run.of_runner("oom_score"));
}

// As in a container that the kernel is to take before all others.
TEST(OomKills, take_the_worker_first_wherever_the_runner_stands) {
  const AtWork run([] { std::ofstream("/proc/self/oom_score_adj") << 900; });
  ASSERT_GT(run.worker, 0);
  EXPECT_EQ(run.of_runner("oom_score_adj"), 900);
  EXPECT_EQ(run.of_worker("oom_score_adj"), 1000);
}

/// A cgroup (version 1) of 256 MiB below this process's own.
class SmallGroup {
 public:
  SmallGroup() {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      const std::size_t start = line.find(":memory:");
      if (start == std::string::npos) continue;
      const std::filesystem::path path = "/sys/fs/cgroup/memory" + line.substr(start + 8) +
                                         "/headroom_test_" + std::to_string(getpid());
      std::error_code refused;
      if (std::filesystem::create_directory(path, refused)) path_ = path;
    }
    if (!path_.empty()) std::ofstream(path_ / "memory.limit_in_bytes") << 256 * 1024 * 1024;
  }
  ~SmallGroup() {
    if (!path_.empty()) rmdir(path_.c_str());
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(OomKills, make_a_case_out_of_memory) {
  const SmallGroup group;
  if (group.path().empty()) GTEST_SKIP() << "no memory cgroup can be made here";
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"eat_memory"}, "{silence_s: 60}"));
  const Ended ended = run_program({"run", suite, "--out", folder / "out"}, [&] {
    std::ofstream(group.path() / "cgroup.procs") << getpid() << std::flush;
  });
  EXPECT_EQ(ended.code, 4) << ended.err;  // nothing was measured
  auto row = read_rows(folder / "out").at("eat_memory");
  EXPECT_EQ(row["status"], "out_of_memory");
  EXPECT_EQ(row["reason"], "host: killed by the kernel's OOM killer");
}

}  // namespace
}  // namespace headroom
