// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

namespace headroom {
namespace {

void write_to(const std::string& path, int descriptor) {
  dup2(open(path.c_str(), O_WRONLY | O_CREAT, 0600), descriptor);
}

/// Empty: it has ended.
std::string executable_of(const std::string& process) {
  std::error_code gone;
  return std::filesystem::read_symlink("/proc/" + process + "/exe", gone).string();
}

}  // namespace

Program::Program(const std::string& name, const std::vector<std::string>& arguments,
                 const std::function<void()>& prepare) {
  const std::string path = std::filesystem::path(HEADROOM_BUILD_DIR) / name;
  std::vector<char*> list = {const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) list.push_back(const_cast<char*>(argument.c_str()));
  list.push_back(nullptr);
  pid_ = fork();
  if (pid_ != 0) return;
  write_to(folder_ / "out", STDOUT_FILENO);
  write_to(folder_ / "err", STDERR_FILENO);
  prepare();
  execv(list[0], list.data());
  _exit(127);
}

void Program::send(int signal) const { kill(pid_, signal); }

std::vector<pid_t> Program::workers() const {
  const std::string id = std::to_string(pid_);
  const std::string own = executable_of(id);
  std::ifstream list("/proc/" + id + "/task/" + id + "/children");
  std::vector<pid_t> workers;
  for (std::string child; list >> child;) {
    const std::string executable = executable_of(child);
    if (executable.empty() || executable == own) continue;
    // Empty: the kernel shows the executable a moment before its variables.
    const std::string variables = read_text("/proc/" + child + "/environ");
    if (!variables.empty() && variables.find("LD_TRACE_LOADED_OBJECTS=") == std::string::npos) {
      workers.push_back(std::stoi(child));
    }
  }
  return workers;
}

Ended Program::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          read_text(folder_ / "out"), read_text(folder_ / "err")};
}

bool is_alive(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string state;
  std::getline(file, state);
  return !state.empty() && state.find(") Z ") == std::string::npos;
}

bool ends_soon(pid_t process) {
  for (int tries = 0; is_alive(process) && tries < 200; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return !is_alive(process);
}

}  // namespace headroom
