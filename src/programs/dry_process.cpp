// SPDX-License-Identifier: Apache-2.0
#include "src/programs/dry_process.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <system_error>

#include "src/core/error.h"
#include "src/core/scratch_folder.h"
#include "src/programs/peak_holders.h"
#include "src/programs/program_machine.h"
#include "src/programs/reserved_peak.h"
#include "src/programs/step_memory.h"

namespace headroom {
namespace {

/// What holds the peaks is found when the program ends.
constexpr std::chrono::seconds kToExplain{120};

/// Throws ConfigError where it can't be started.
pid_t start_program(const std::vector<std::string>& command, const Environment& environment) {
  check_is_for_this_machine(command[0]);
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

}  // namespace

bool DryEnd::was_ended() const {
  return passed_on != 0 || !why_stuck.empty() || exit_code_of(exit) == 128 + SIGINT;
}

DryEnd wait_for(pid_t child, Interrupts& signals, int master, StoreServer* store,
                const DryTime& time) {
  using Clock = StoreServer::Clock;
  constexpr int kLookAgainMs = 1000;  // whether it is stuck, or a time is up
  const FileDescriptor ended = watch_end(child);
  const auto deadline = Clock::now() + time.most;
  std::optional<Clock::time_point> killed_at;
  DryEnd result;
  const auto end = [&](int signal) {
    kill(child, signal);
    if (!killed_at) killed_at = Clock::now() + time.to_end;
  };
  const auto pass_on = [&](int signal) {
    result.passed_on = signal;
    end(signal);
  };
  for (bool has_ended = false; !has_ended;) {
    std::vector<pollfd> list{
        {ended.get(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}, {master, POLLIN, 0}};
    if (store != nullptr) {
      const auto awaited = store->awaited();
      list.insert(list.end(), awaited.begin(), awaited.end());
    }
    const bool looks_again = store != nullptr || time.most.count() > 0 || killed_at;
    poll(list.data(), list.size(), looks_again ? kLookAgainMs : -1);
    has_ended = list[0].revents != 0;
    while (const auto signal = signals.next()) {
      if (*signal == SIGTERM || *signal == SIGHUP) pass_on(*signal);
    }
    if (list[2].revents != 0) {
      pass_on(SIGKILL);
      master = -1;
    }
    const auto now = Clock::now();
    if (time.most.count() > 0 && now >= deadline && !has_ended && !result.was_cut) {
      result.was_cut = true;
      end(SIGINT);
    }
    if (killed_at && now >= *killed_at) kill(child, SIGKILL);
    if (store == nullptr || !result.why_stuck.empty()) continue;
    store->exchange();
    result.why_stuck = store->why_stuck(now);
    if (!result.why_stuck.empty()) pass_on(SIGKILL);
  }
  result.exit = take_status(child);
  if (result.was_cut) result.exit = {};
  return result;
}

DryOutcome run_program(const DryCommand& command, const Environment& more, StoreServer* store) {
  const ScratchFolder scratch;
  Environment environment = dry_run_environment(command.dry_run, scratch.path());
  environment.insert(environment.end(), more.begin(), more.end());
  const pid_t child = start_program(command.words, environment);
  DryOutcome outcome;
  DryTime time{.most = std::chrono::seconds(command.dry_run.seconds)};
  if (command.dry_run.holders) time.to_end = kToExplain;
  outcome.end = wait_for(child, command.signals, command.master, store, time);
  outcome.reports = read_reports(scratch.path());
  if (command.dry_run.holders) {
    add_holders(outcome.reports, scratch.path());
    add_reserved_peaks(outcome.reports, scratch.path());
    add_step_memory(outcome.reports, scratch.path());
  }
  return outcome;
}

}  // namespace headroom
