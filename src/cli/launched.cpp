// SPDX-License-Identifier: Apache-2.0
#include "src/cli/launched.h"

#include "src/cli/ask_worker.h"
#include "src/cli/exit_code.h"
#include "src/cli/output.h"
#include "src/workers/agent.h"

namespace headroom {
namespace {

// Launchers start all ranks at about the same time.
constexpr std::chrono::seconds kMeetingTimeout{60};

}  // namespace

std::unique_ptr<Agents> meet_agents(const Launch& launch, const std::string& program) {
  return std::make_unique<Agents>(launch, hello_of(launch, program), kMeetingTimeout,
                                  [](const std::string& text) { say(text); });
}

int run_agent(const Launch& launch, const std::string& program) {
  const std::string worker = worker_path();
  Connection runner = call_runner(launch, hello_of(launch, program), kMeetingTimeout);
  Interrupts interrupts;
  const std::string why = serve_runner(runner, launch, worker, interrupts);
  if (why.empty()) return 0;
  say("rank " + std::to_string(launch.rank) + ": " + why);
  return interrupts.count() > 0 ? kInterrupted : kFailed;
}

}  // namespace headroom
