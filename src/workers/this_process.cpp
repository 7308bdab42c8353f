// SPDX-License-Identifier: Apache-2.0
#include "src/workers/this_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <sstream>
#include <string>
#include <string_view>

#include "src/core/checksum.h"
#include "src/core/file.h"

namespace headroom {
namespace {

constexpr std::chrono::milliseconds kPauseOfWait{2};

/// The list of this process's children, which is another one each time it is read. Below 0: this
/// kernel has none.
FileDescriptor open_children() {
  const std::string path = "/proc/self/task/" + std::to_string(getpid()) + "/children";
  FileDescriptor list(uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (list.get() < 0 && errno != ENOENT) throw_errno(path);
  return list;
}

std::vector<pid_t> read_children(const FileDescriptor& children) {
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t count = 1;
  while (count > 0) {
    count = uninterrupted([&] {
      return pread(children.get(), buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    });
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  std::istringstream list(text);
  std::vector<pid_t> found;
  for (pid_t child; list >> child;) found.push_back(child);
  return found;
}

bool is_ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

bool contains(const std::vector<pid_t>& list, pid_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

}  // namespace

Interrupts::Interrupts(std::initializer_list<int> signals) {
  sigset_t counted;
  sigemptyset(&counted);
  for (const int signal : signals) {
    if (!is_ignored(signal)) sigaddset(&counted, signal);
  }
  sigprocmask(SIG_BLOCK, &counted, &before_);
  signals_ = FileDescriptor(signalfd(-1, &counted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (signals_.get() < 0) throw_errno("signalfd");
}

Interrupts::~Interrupts() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

std::optional<int> Interrupts::next() {
  signalfd_siginfo info;
  if (read(signals_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  ++count_;
  return static_cast<int>(info.ssi_signo);
}

int Interrupts::count() {
  while (next()) {
  }
  return count_;
}

void set_inheritance_right() {
  open_standard_descriptors();
  std::signal(SIGCHLD, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void AdoptedProcesses::begin() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  children_ = open_children();
  spared_ = read_children(children_);
  spared_groups_.clear();
  for (const pid_t child : spared_) spared_groups_.push_back(getpgid(child));
}

std::vector<pid_t> AdoptedProcesses::left_behind() const {
  // A worker leads a group of its own, and no process joins another's group by accident.
  std::vector<pid_t> left = read_children(children_);
  std::erase_if(left, [this](pid_t child) {
    return contains(spared_, child) || contains(spared_groups_, getpgid(child));
  });
  return left;
}

AdoptedProcesses::~AdoptedProcesses() {
  // Ending one can hand its own children to us, so again until there are none.
  const auto deadline = std::chrono::steady_clock::now() + kUnkillableAfter;
  bool all_ended = true;
  for (auto left = left_behind(); all_ended && !left.empty(); left = left_behind()) {
    for (const pid_t child : left) all_ended = end_child(child, deadline) && all_ended;
  }
  // Of those that were spared and have ended nobody else takes the status.
  for (const pid_t child : read_children(children_)) waitpid(child, nullptr, WNOHANG);
}

FileDescriptor watch_end(pid_t process) {
  FileDescriptor ended(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  if (ended.get() < 0) throw_errno("pidfd_open");
  return ended;
}

bool end_child(pid_t child, std::chrono::steady_clock::time_point deadline) {
  kill(child, SIGKILL);
  const FileDescriptor ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  // Below 0 it is no child any more. Nothing wakes us where no descriptor is to be had, or where it
  // has ended and another process, a debugger, has to hear of it first.
  bool wakes_us = ended.get() >= 0;
  while (waitpid(child, nullptr, WNOHANG) == 0) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd wait{wakes_us ? ended.get() : -1, POLLIN, 0};
    const auto most = wakes_us ? left : std::min(left, kPauseOfWait);
    if (poll(&wait, 1, static_cast<int>(most.count())) > 0) wakes_us = false;
  }
  return true;
}

std::vector<std::string> environment_with(const Environment& changes) {
  std::vector<std::string> all;
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool changed = std::any_of(changes.begin(), changes.end(),
                                     [&](const auto& change) { return change.first == name; });
    if (!changed) all.emplace_back(text);
  }
  return all;
}

Variables environment_variables() {
  Variables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

int usable_cores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
}

std::string usable_core_set() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  return fingerprint({reinterpret_cast<const char*>(&cores), sizeof cores});
}

}  // namespace headroom
