// SPDX-License-Identifier: Apache-2.0
#include "src/runner/dry_run.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxBytesOfReport = 1 << 20;

/// ld.so splits LD_PRELOAD at spaces and colons, replaces what follows a "$", and knows no escape.
bool can_be_preloaded(const std::string& path) {
  return path.find_first_of(" :$") == std::string::npos;
}

/// The folder of the libraries, by a name that can be preloaded.
std::string preloaded_folder(const std::string& libraries, const std::filesystem::path& scratch) {
  if (can_be_preloaded(libraries)) return libraries;
  const std::filesystem::path link = scratch / "libraries";
  if (!can_be_preloaded(link)) {
    throw ConfigError(libraries + ": its name can't stand in LD_PRELOAD, and neither can that of " +
                      scratch.string() +
                      ": set TMPDIR to a folder without a space, a colon or a '$' in its name");
  }
  std::filesystem::create_directory_symlink(libraries, link);
  return link;
}

/// LD_PRELOAD may name something already; it stays, behind ours.
std::string preload(const std::string& folder) {
  const char* before = std::getenv("LD_PRELOAD");
  return folder + "/libcuda.so.1:" + folder + "/libnvidia-ml.so.1" +
         (before == nullptr ? "" : std::string(":") + before);
}

/// While it lives, SIGINT and SIGQUIT are the program's alone: the terminal sends them to both.
class LeaveSignalsToChild {
 public:
  LeaveSignalsToChild() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      before_[i] = std::signal(kSignals[i], SIG_IGN);
  }
  ~LeaveSignalsToChild() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) std::signal(kSignals[i], before_[i]);
  }
  LeaveSignalsToChild(const LeaveSignalsToChild&) = delete;
  LeaveSignalsToChild& operator=(const LeaveSignalsToChild&) = delete;

  static constexpr std::array kSignals = {SIGINT, SIGQUIT};

 private:
  std::array<void (*)(int), kSignals.size()> before_{};
};

pid_t spawn(const std::vector<std::string>& command, const Environment& environment) {
  const std::vector<std::string> variables = environment_with(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  // An ignored signal would stay ignored in the program.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : LeaveSignalsToChild::kSignals) sigaddset(&defaults, signal);
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  pid_t child = 0;
  const int error = posix_spawnp(&child, command[0].c_str(), &actions, &attributes,
                                 pointers_to(command).data(), pointers_to(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw ConfigError(command[0] + ": " + std::strerror(error));
  return child;
}

ExitStatus wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

Environment dry_run_environment(const DryRun& dry_run, const std::filesystem::path& scratch) {
  const std::string libraries = preloaded_folder(dry_run.libraries, scratch);
  Environment environment{{"LD_PRELOAD", preload(libraries)},
                          {"TRITON_LIBCUDA_PATH", libraries},
                          {"HEADROOM_DRY_RUN_GPU", dry_run.gpu},
                          {"HEADROOM_DRY_RUN_MEMORY", std::to_string(dry_run.memory_bytes)},
                          {"HEADROOM_DRY_RUN_OVERCOMMIT", dry_run.overcommit ? "1" : "0"},
                          {"HEADROOM_DRY_RUN_REPORT", scratch.string()},
                          // There is one device, and it is not one of this machine's.
                          {"CUDA_VISIBLE_DEVICES", "0"}};
  if (dry_run.host == DryRun::Host::ahead)
    environment.emplace_back("HEADROOM_DRY_RUN_HOST_NS", "0");
  if (dry_run.host == DryRun::Host::slow) {
    environment.emplace_back("HEADROOM_DRY_RUN_HOST_NS", "slow");
  }
  return environment;
}

DryReports read_reports(const std::filesystem::path& scratch) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(scratch)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  DryReports reports;
  for (const auto& file : files) {
    try {
      reports.whole.push_back(read_json(read_file(file.string(), kMaxBytesOfReport)));
    } catch (const JsonError&) {  // it is empty, or torn
      ++reports.missing;
    }
  }
  return reports;
}

DryProgram run_dry(const std::vector<std::string>& command, const DryRun& dry_run) {
  const ScratchFolder scratch;
  const LeaveSignalsToChild signals;
  DryProgram result;
  result.exit = wait_for(spawn(command, dry_run_environment(dry_run, scratch.path())));
  result.reports = read_reports(scratch.path());
  return result;
}

}  // namespace headroom
