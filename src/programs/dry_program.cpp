// SPDX-License-Identifier: Apache-2.0
#include "src/programs/dry_program.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>

#include "src/core/error.h"
#include "src/core/scratch_folder.h"
#include "src/programs/store_server.h"

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

/// Waits for a child, passes SIGTERM and SIGHUP on to it, and kills it where `master` ends first,
/// or where it waits for ranks that never come. `store`: null where there is none.
DryProgram wait_for(pid_t child, Interrupts& signals, int master, StoreServer* store) {
  constexpr int kLookAgainMs = 1000;  // whether it is stuck
  const FileDescriptor ended = watch_end(child);
  DryProgram result;
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

/// What a program leaves behind that ended by itself is its own affair, a compiler's server, say.
void spare_what_is_left(const DryProgram& ended, AdoptedProcesses& adopted) {
  if (ended.passed_on == 0 && ended.exit.signal == 0) adopted.begin();
}

/// The environment's later entries count.
Environment joined(Environment first, const Environment& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Runs the command once. `played`: null where it brings its own ranks.
DryProgram run_once(const std::vector<std::string>& command, const Environment& environment,
                    const PlayedRank* played, Interrupts& signals, int master) {
  if (played == nullptr) {
    return wait_for(start_program(command, environment), signals, master, nullptr);
  }
  StoreServer store;
  const Environment with_rank = joined(environment, environment_of(*played, store.port()));
  return wait_for(start_program(command, with_rank), signals, master, &store);
}

/// What rank 0 tells of the program's ranks.
std::vector<int> all_distinct(int world, const DryReports& of_first) {
  std::int64_t stages = 1;
  for (const auto& report : of_first.whole) {
    stages = std::max(stages, report.value("stages", stages));
  }
  std::vector<int> list;
  const bool can_be_divided = world % stages == 0;
  for (std::int64_t stage = 1; can_be_divided && stage < stages; ++stage) {
    list.push_back(static_cast<int>(stage * (world / stages)));
  }
  if (world > 1 && (list.empty() || list.back() != world - 1)) list.push_back(world - 1);
  return list;
}

/// Runs as each rank, up to the first that fails.
DryProgram run_each(const PlayedRanks& ranks, const std::filesystem::path& scratch,
                    const std::function<DryProgram(const PlayedRank*)>& run) {
  if (ranks.world == 0) return run(nullptr);
  DryProgram last;
  std::vector<int> list = ranks.are_all ? std::vector<int>{0} : ranks.list;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const PlayedRank played{list[i], ranks.world};
    last = run(&played);
    if (last.exit != ExitStatus{} || last.passed_on != 0) break;
    if (!ranks.are_all || i > 0) continue;
    const auto others = all_distinct(ranks.world, read_reports(scratch));
    list.insert(list.end(), others.begin(), others.end());
  }
  return last;
}

}  // namespace

int run_dry(const std::vector<std::string>& command, const DryRun& dry_run,
            const PlayedRanks& ranks, const std::function<int(const DryProgram&)>& report) {
  const ScratchFolder scratch;
  AdoptedProcesses adopted;
  const FileDescriptor self = watch_end(getpid());
  // The terminal sends the first two to the program as well.
  std::optional<Interrupts> signals(std::in_place, {SIGINT, SIGQUIT, SIGTERM, SIGHUP});
  const pid_t planner = fork();
  if (planner < 0) throw_errno("fork");
  if (planner > 0) {
    const DryProgram ended = wait_for(planner, *signals, -1, nullptr);
    spare_what_is_left(ended, adopted);
    return exit_code_of(ended.exit);
  }
  adopted.begin();
  const Environment environment = dry_run_environment(dry_run, scratch.path());
  DryProgram program = run_each(ranks, scratch.path(), [&](const PlayedRank* played) {
    return run_once(command, environment, played, *signals, self.get());
  });
  signals.reset();  // from now on they end this process
  spare_what_is_left(program, adopted);
  program.reports = read_reports(scratch.path());
  const bool has_failed = program.exit != ExitStatus{};
  if (has_failed && program.reports.whole.empty()) check_has_room_for_report();
  return report(program);
}

}  // namespace headroom
