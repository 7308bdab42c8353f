// SPDX-License-Identifier: Apache-2.0
// Loaded before a program, it writes down which processes that starts, sends signals to, and takes
// the status of, in their order, into the file that TEST_CALL_LOG names.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <typename Function>
Function* original(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// What a program starts inherits the library, and is not what is looked at.
bool is_logged() {
  return std::strcmp(program_invocation_short_name, "headroom_with_test_catalog") == 0;
}

void log(const char* what, pid_t process) {
  if (!is_logged()) return;
  char line[64];
  const int size = std::snprintf(line, sizeof line, "%s %d\n", what, process);
  const int file =
      open(std::getenv("TEST_CALL_LOG"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  [[maybe_unused]] const ssize_t ignored = write(file, line, static_cast<std::size_t>(size));
  close(file);
}

}  // namespace

extern "C" {

pid_t fork() {
  const pid_t child = original("fork", &fork)();
  if (child > 0) log("start", child);
  return child;
}

int kill(pid_t process, int signal) {
  log("signal", std::abs(process));  // of a group: its leader
  return original("kill", &kill)(process, signal);
}

pid_t waitpid(pid_t process, int* status, int options) {
  const pid_t taken = original("waitpid", &waitpid)(process, status, options);
  if (taken > 0) log("take", taken);
  return taken;
}

int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  const int result = original("waitid", &waitid)(type, id, info, options);
  if (result == 0 && info->si_pid > 0 && (options & WNOWAIT) == 0) log("take", info->si_pid);
  return result;
}
}
