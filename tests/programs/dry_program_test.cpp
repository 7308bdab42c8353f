// SPDX-License-Identifier: Apache-2.0
// Somebody's program beside headroom: how it starts, ends, and is ended. No CUDA is needed for
// that.
#include "src/programs/dry_program.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "src/core/error.h"
#include "src/programs/program_machine.h"
#include "tests/core/messages.h"
#include "tests/support/program.h"

namespace headroom {
namespace {

constexpr int kNotAllowed = 99;

int plan(const std::vector<std::string>& command, int seconds) {
  set_inheritance_right();
  DryRun dry_run;
  dry_run.seconds = seconds;
  try {
    return run_dry(command, dry_run, PlayedRanks{}, [](const DryProgram& program) {
      return program.end.passed_on != 0 ? 128 + program.end.passed_on
                                        : exit_code_of(program.end.exit);
    });
  } catch (const ConfigError&) {
    return 2;
  }
}

/// A process that runs a program dry, in a group of its own.
class Planner {
 public:
  explicit Planner(
      const std::string& script, const std::function<void()>& prepare = [] {}, int seconds = 0)
      : Planner(std::vector<std::string>{"/bin/sh", "-c", script}, prepare, seconds) {}
  explicit Planner(
      const std::vector<std::string>& command, const std::function<void()>& prepare = [] {},
      int seconds = 0) {
    std::filesystem::create_directory(folder_ / "tmp");
    pid_ = fork();
    if (pid_ != 0) return;
    setpgid(0, 0);
    std::filesystem::current_path(folder_.path());
    setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
    dup2(open("err", O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    prepare();
    _exit(plan(command, seconds));
  }
  ~Planner() { kill(-pid_, SIGKILL); }
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// The processes that the script named in the file "started", once there are so many.
  std::vector<pid_t> started(std::size_t count) const {
    std::vector<pid_t> found;
    for (int tries = 0; found.size() < count && tries < 1000; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      found.clear();
      std::ifstream list(folder_ / "started");
      for (pid_t each; list >> each;) found.push_back(each);
    }
    return found;
  }

  /// As a shell says how it ended: 128 and its signal where it was killed, also by this.
  int end() const {
    for (int tries = 0; is_alive(pid_) && tries < 500; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(pid_, SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  bool leaves_nothing() const {
    const std::filesystem::path folder = folder_ / "tmp";
    for (int tries = 0; !std::filesystem::is_empty(folder) && tries < 500; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return std::filesystem::is_empty(folder);
  }

  pid_t pid() const { return pid_; }
  std::string said(const std::string& file) const { return read_text(folder_ / file); }

 private:
  TemporaryFolder folder_;
  pid_t pid_;
};

// As a launcher: it has started another process, in a session of its own.
const std::string kLauncher =
    "trap 'echo TERM > told' TERM; trap 'echo HUP > told' HUP;"
    "setsid sleep 60 & echo $! $$ > started; wait";

class SignalToHeadroom : public testing::TestWithParam<int> {};

TEST_P(SignalToHeadroom, ends_the_program_and_all_it_started) {
  const Planner planner(kLauncher);
  const std::vector<pid_t> started = planner.started(2);
  ASSERT_EQ(started.size(), 2U);
  kill(planner.pid(), GetParam());
  EXPECT_EQ(planner.end(), 128 + GetParam());
  for (const pid_t each : started) {
    EXPECT_TRUE(ends_soon(each));
    kill(each, SIGKILL);
  }
  EXPECT_TRUE(planner.leaves_nothing());
  EXPECT_EQ(planner.said("told"), GetParam() == SIGTERM  ? "TERM\n"
                                  : GetParam() == SIGHUP ? "HUP\n"
                                                         : "");
}

INSTANTIATE_TEST_SUITE_P(Signals, SignalToHeadroom, testing::Values(SIGTERM, SIGHUP, SIGKILL));

TEST(DryProgram, ends_where_headroom_is_the_first_process_of_a_container) {
  const Planner planner("echo $$ > started; sleep 60", [] {
    if (unshare(CLONE_NEWPID) != 0) _exit(kNotAllowed);
    const pid_t first = fork();
    if (first == 0) return;
    std::ofstream("first") << first;
    int status = 0;
    waitpid(first, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  });
  if (planner.started(1).empty() && planner.end() == kNotAllowed) {
    GTEST_SKIP() << "no namespace can be made here";
  }
  while (planner.said("first").empty()) std::this_thread::yield();
  kill(std::stoi(planner.said("first")), SIGTERM);
  EXPECT_EQ(planner.end(), 128 + SIGTERM);
}

TEST(DryProgram, has_an_exit_code_also_where_ended_children_were_to_be_ignored) {
  EXPECT_EQ(Planner("exit 7", [] { std::signal(SIGCHLD, SIG_IGN); }).end(), 7);
  EXPECT_EQ(Planner("exit 0").end(), 0);
  EXPECT_EQ(Planner("kill -9 $$").end(), 128 + SIGKILL);
  EXPECT_EQ(Planner(std::vector<std::string>{"/no/such/program"}).end(), 2);
}

TEST(DryProgram, gets_the_terminals_signals_itself) {
  const Planner planner("trap 'exit 3' INT; echo $$ > started; while :; do sleep 0.01; done");
  ASSERT_EQ(planner.started(1).size(), 1U);
  kill(-planner.pid(), SIGINT);
  EXPECT_EQ(planner.end(), 3);
}

TEST(DryProgram, finds_signals_as_headroom_found_them) {
  const std::string look = "kill -HUP $$; kill -INT $$; echo goes on > told; kill -TERM $$";
  const Planner planner(look, [] {
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGINT, SIG_IGN);
  });
  EXPECT_EQ(planner.end(), 128 + SIGTERM);
  EXPECT_EQ(planner.said("told"), "goes on\n");
}

// A compiler's server, say. It ends by itself.
TEST(DryProgram, may_leave_something_behind) {
  const Planner planner("sleep 60 & echo $! > started");
  EXPECT_EQ(planner.end(), 0);
  const pid_t left = planner.started(1).at(0);
  EXPECT_TRUE(is_alive(left));
  kill(left, SIGKILL);
}

// All that it started as well, and however much it prints. That is no failure.
TEST(DryProgram, is_ended_when_its_time_is_up) {
  const Planner planner(
      "setsid sleep 60 & echo $! $$ > started; while :; do echo; done", [] {}, 1);
  const std::vector<pid_t> started = planner.started(2);
  ASSERT_EQ(started.size(), 2U);
  EXPECT_EQ(planner.end(), 0);
  for (const pid_t each : started) {
    EXPECT_TRUE(ends_soon(each));
    kill(each, SIGKILL);
  }
  EXPECT_TRUE(planner.leaves_nothing());
  EXPECT_EQ(Planner(
                "exit 7", [] {}, 60)
                .end(),
            7);
}

// By its own time, and by a signal that is passed on to it.
TEST(DryProgram, is_killed_where_it_hears_no_signal) {
  using std::chrono::seconds;
  for (const DryTime& time : {DryTime{seconds(1), seconds(1)}, DryTime{seconds(0), seconds(1)}}) {
    const pid_t deaf = start_child("sh", [] {
      execlp("sh", "sh", "-c", "trap '' INT TERM HUP; while :; do sleep 0.1; done", nullptr);
    });
    Interrupts signals({SIGTERM});
    const bool is_cut = time.most > seconds(0);
    std::thread somebody([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));  // until it is deaf
      if (!is_cut) kill(getpid(), SIGTERM);
    });
    const DryEnd end = wait_for(deaf, signals, /*master=*/-1, /*store=*/nullptr, time);
    somebody.join();
    EXPECT_EQ(end.was_cut, is_cut);
    EXPECT_EQ(end.passed_on, is_cut ? 0 : SIGTERM);
    EXPECT_EQ(end.exit, (is_cut ? ExitStatus{} : ExitStatus{0, SIGKILL}));
    EXPECT_EQ(end.was_ended(), !is_cut);
  }
}

TEST(DryProgram, is_not_started_where_it_is_for_another_kind_of_machine) {
  const TemporaryFolder folder;
  for (const std::size_t place : {EI_CLASS, static_cast<int>(offsetof(Elf64_Ehdr, e_machine))}) {
    std::string program = read_text("/proc/self/exe");
    program[place] = static_cast<char>(program[place] + 1);
    folder.write("program", program);
    std::filesystem::permissions(folder / "program", std::filesystem::perms::owner_all);
    const std::string message =
        message_of<ConfigError>([&] { check_is_for_this_machine(folder / "program"); });
    EXPECT_EQ(message, (folder / "program") + ": it was built for another kind of machine");
    EXPECT_EQ(Planner(std::vector<std::string>{folder / "program"}).end(), 2);
  }
  check_is_for_this_machine("sh");
  check_is_for_this_machine("/no/such/program");
  check_is_for_this_machine("/proc/self/exe");
}

}  // namespace
}  // namespace headroom
