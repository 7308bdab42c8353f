// SPDX-License-Identifier: Apache-2.0
#include "src/workers/process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <system_error>
#include <thread>

#include "src/core/file.h"

namespace headroom {
namespace {

constexpr int kMessages = 3;           // where the child finds the pipe for its messages
constexpr int kFirstSpareNumber = 10;  // above all that the child's descriptors are moved to
constexpr int kMaxOomScoreAdj = 1000;
constexpr int kMoreOomScoreAdj = 500;
constexpr std::array kForkAgainAfterMs = {10, 40, 160, 640};

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Pipe make_pipe() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

void make_non_blocking(int descriptor) {
  if (fcntl(descriptor, F_SETFL, O_NONBLOCK) != 0) throw_errno("fcntl");
}

/// A file in memory that holds the text. Unlike a pipe it never blocks its writer.
FileDescriptor file_of(std::string_view text) {
  FileDescriptor file(memfd_create("request", MFD_CLOEXEC));
  if (file.get() < 0) throw_errno("memfd_create");
  write_all(file.get(), text, "the worker's request");
  if (lseek(file.get(), 0, SEEK_SET) != 0) throw_errno("lseek");
  return file;
}

/// What the child needs between fork and exec, where nothing may be allocated.
struct ChildStart {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  int input;
  int output;
  int messages;
  std::string_view oom_score_adj;
};

/// A copy with a number that no other descriptor here is moved to. Below 0: errno says why not.
int move_away(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstSpareNumber); }

/// False: errno says why not.
bool place_descriptors(const ChildStart& start) {
  const int input = move_away(start.input);
  const int output = move_away(start.output);
  const int messages = move_away(start.messages);
  return input >= 0 && output >= 0 && messages >= 0 && dup2(input, STDIN_FILENO) >= 0 &&
         dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0 &&
         dup2(messages, kMessages) >= 0;
}

/// What is ignored or blocked outlives exec.
void restore_signals() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// What the OOM killer is to add to a worker's score: more than to that of this process, which may
/// have the score of a container.
std::string oom_score_adj_of_worker() {
  std::ifstream file("/proc/self/oom_score_adj");
  int own = 0;
  file >> own;
  return std::to_string(std::min(kMaxOomScoreAdj, own + kMoreOomScoreAdj));
}

void prefer_for_oom_killer(std::string_view score) {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  // It is a preference only.
  [[maybe_unused]] const ssize_t ignored = write(file, score.data(), score.size());
}

void become_worker(const ChildStart& start) {
  setpgid(0, 0);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prefer_for_oom_killer(start.oom_score_adj);
  // The runner ends workers by signals that it may have been told to ignore.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);

  if (!place_descriptors(start)) return;
  syscall(SYS_close_range, kMessages + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  execve(start.arguments[0], start.arguments.data(), start.environment.data());
}

/// fork, a few times where the system has no room for a process: other processes end.
pid_t fork_again_if_full() {
  for (const int pause_ms : kForkAgainAfterMs) {
    const pid_t child = fork();
    if (child >= 0 || (errno != EAGAIN && errno != ENOMEM)) return child;
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
  }
  return fork();
}

/// The number behind "oom_kill " in a file of lines "name number".
std::optional<std::int64_t> read_counter(const std::string& path) {
  std::ifstream file(path);
  std::string name;
  for (std::int64_t value; file >> name >> value;) {
    if (name == "oom_kill") return value;
  }
  return std::nullopt;
}

}  // namespace

int exit_code_of(const ExitStatus& exit) {
  return exit.signal == 0 ? exit.code : 128 + exit.signal;
}

ExitStatus take_status(pid_t child) {
  int status = 0;
  const pid_t ended = uninterrupted([&] { return waitpid(child, &status, 0); });
  if (ended != child) throw_errno("waitpid");
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

pid_t start_child(const std::string& name, const std::function<void()>& become) {
  Pipe error = make_pipe();
  const pid_t parent = getpid();
  const pid_t child = fork_again_if_full();
  if (child < 0) throw_errno("fork for " + name);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // it ended before the line above
    restore_signals();
    const int spare = move_away(error.write.get());
    if (spare >= 0) become();
    const int reason = errno;
    const int said = spare >= 0 ? spare : error.write.get();
    [[maybe_unused]] const ssize_t ignored = write(said, &reason, sizeof reason);
    _exit(127);
  }
  error.write.reset();
  int reason = 0;
  if (uninterrupted([&] { return read(error.read.get(), &reason, sizeof reason); }) > 0) {
    uninterrupted([&] { return waitpid(child, nullptr, 0); });
    throw std::system_error(reason, std::generic_category(), name);
  }
  return child;
}

Process::Process(const std::vector<std::string>& arguments, std::string_view input,
                 const Environment& environment) {
  const FileDescriptor request = file_of(input);
  Pipe output = make_pipe();
  Pipe messages = make_pipe();
  const std::vector<std::string> variables = environment_with(environment);
  const std::string score = oom_score_adj_of_worker();
  const ChildStart start{pointers_to(arguments), pointers_to(variables), request.get(),
                         output.write.get(),     messages.write.get(),   score};

  pid_ = start_child(arguments[0], [&] { become_worker(start); });
  ended_ = watch_end(pid_);
  output_ = std::move(output.read);
  messages_ = std::move(messages.read);
  make_non_blocking(output_.get());
  make_non_blocking(messages_.get());
}

Process::~Process() { end(); }

std::optional<pid_t> Process::end() {
  // The group first: once its leader's status is taken, the number may become another process's.
  send(SIGKILL);
  const pid_t child = give_up();
  if (child == kNone) return std::nullopt;
  if (end_child(child, std::chrono::steady_clock::now() + kUnkillableAfter)) return std::nullopt;
  return child;
}

std::optional<ExitStatus> Process::try_wait() const {
  if (pid_ == kNone) return std::nullopt;
  // WNOWAIT: until the destructor takes the status, the number can't become another process's.
  siginfo_t info{};
  const auto look = [&] {
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  };
  if (uninterrupted(look) != 0) throw_errno("waitid");
  if (info.si_pid == 0) return std::nullopt;
  if (info.si_code == CLD_EXITED) return ExitStatus{info.si_status, 0};
  return ExitStatus{0, info.si_status};
}

void Process::send(int signal) const {
  if (pid_ != kNone) kill(-pid_, signal);  // else it would go to the process 1
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::optional<std::int64_t> count_oom_kills(const std::string& root) {
  // "4:memory:/path" in version 1, "0::/path" in version 2; version 1 counts where both stand.
  std::ifstream groups(root + "/proc/self/cgroup");
  std::optional<std::int64_t> unified;
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = root + "/sys/fs/cgroup";
    const std::string group = line.substr(second + 1);
    if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      if (const auto count = read_counter(path + "/memory" + group + "/memory.oom_control")) {
        return count;
      }
    } else if (controllers.empty()) {
      unified = read_counter(path + group + "/memory.events");
    }
  }
  return unified;
}

}  // namespace headroom
