// SPDX-License-Identifier: Apache-2.0
#include "src/programs/dry_process.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <system_error>

#include "src/core/error.h"
#include "src/core/scratch_folder.h"
#include "src/programs/peak_holders.h"
#include "src/programs/reserved_peak.h"

namespace headroom {
namespace {

/// Throws ConfigError where it can't be started.
pid_t start_program(const std::vector<std::string>& command, const Environment& environment) {
  const std::vector<std::string> variables = environment_with(environment);
  const std::vector<char*> arguments = pointers_to(command);
  const std::vector<char*> entries = pointers_to(variables);
  try {
    return start_child(command[0], [&] {
      if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return;
      execvpe(arguments[0], arguments.data(), entries.data());
    });
  } catch (const std::system_error& error) {
    throw ConfigError(error.what());
  }
}

ExitStatus take_status(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) throw_errno("waitpid");
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

bool DryEnd::was_ended() const {
  return passed_on != 0 || !why_stuck.empty() || exit_code_of(exit) == 128 + SIGINT;
}

DryEnd wait_for(pid_t child, Interrupts& signals, int master, StoreServer* store) {
  constexpr int kLookAgainMs = 1000;  // whether it is stuck
  const FileDescriptor ended = watch_end(child);
  DryEnd result;
  const auto end = [&](int signal) {
    result.passed_on = signal;
    kill(child, signal);
  };
  bool has_ended = false;
  while (!has_ended) {
    std::vector<pollfd> list{
        {ended.get(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}, {master, POLLIN, 0}};
    if (store != nullptr) {
      const auto awaited = store->awaited();
      list.insert(list.end(), awaited.begin(), awaited.end());
    }
    poll(list.data(), list.size(), store == nullptr ? -1 : kLookAgainMs);
    has_ended = list[0].revents != 0;
    while (const auto signal = signals.next()) {
      if (*signal == SIGTERM || *signal == SIGHUP) end(*signal);
    }
    if (list[2].revents != 0) {
      end(SIGKILL);
      master = -1;
    }
    if (store == nullptr || !result.why_stuck.empty()) continue;
    store->exchange();
    result.why_stuck = store->why_stuck(StoreServer::Clock::now());
    if (!result.why_stuck.empty()) end(SIGKILL);
  }
  result.exit = take_status(child);
  return result;
}

DryOutcome run_program(const DryCommand& command, const Environment& more, StoreServer* store) {
  const ScratchFolder scratch;
  Environment environment = dry_run_environment(command.dry_run, scratch.path());
  environment.insert(environment.end(), more.begin(), more.end());
  const pid_t child = start_program(command.words, environment);
  DryOutcome outcome;
  outcome.end = wait_for(child, command.signals, command.master, store);
  outcome.reports = read_reports(scratch.path());
  if (command.dry_run.holders) {
    add_holders(outcome.reports, scratch.path());
    add_reserved_peaks(outcome.reports, scratch.path());
  }
  return outcome;
}

}  // namespace headroom
