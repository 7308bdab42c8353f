// SPDX-License-Identifier: Apache-2.0
#include "src/cli/launched.h"

#include "src/cli/ask_worker.h"
#include "src/cli/exit_code.h"
#include "src/cli/output.h"
#include "src/runner/duty.h"

namespace headroom {
namespace {

constexpr std::chrono::seconds kPatience{60};  // launchers start all of them at about the same time

}  // namespace

std::unique_ptr<Deputies> meet_deputies(const Launch& launch, const std::string& program) {
  return std::make_unique<Deputies>(launch, hello_of(launch, program), kPatience,
                                    [](const std::string& text) { say(text); });
}

int run_deputy(const Launch& launch, const std::string& program) {
  const std::string worker = worker_path();
  Connection runner = call_runner(launch, hello_of(launch, program), kPatience);
  Interrupts interrupts;
  const std::string why = do_duty(runner, launch, worker, interrupts);
  if (why.empty()) return 0;
  say("rank " + std::to_string(launch.rank) + ": " + why);
  return interrupts.count() > 0 ? kInterrupted : kFailed;
}

}  // namespace headroom
