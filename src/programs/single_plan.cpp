// SPDX-License-Identifier: Apache-2.0
#include "src/programs/single_plan.h"

#include <csignal>

#include "src/core/file.h"
#include "src/core/json.h"
#include "src/core/scratch_folder.h"
#include "src/programs/program_report.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytesOfPlan = 64 << 20;
constexpr int kFailed = 1;

}  // namespace

SinglePlan plan_once(const std::vector<std::string>& words, const DryRun& dry_run,
                     const PlayedRanks& played,
                     const std::function<void(const std::string&)>& said) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path() / "plan";
  const auto keep = [&](const DryProgram& program) {  // in another process
    const ProgramReport report = make_report(program, words[0]);
    if (program.end.was_ended()) return exit_code_of({0, SIGINT});
    if (report.processes.empty() || (report.has_failed && report.fits)) {
      said(words[0] + ": failed by itself, with exit code " +
           std::to_string(exit_code_of(program.end.exit)));
      return kFailed;
    }
    const Json plan{{"fits", report.fits}, {"largest", report.largest()}};
    write_file_atomically(file, plan.dump(-1, ' ', false, Json::error_handler_t::replace));
    return 0;
  };
  const int code = run_dry(words, dry_run, played, keep, HowOften::once);
  if (code != 0) throw NoPlan{code};
  const Json plan =
      read_json(read_file(file.string(), kMostBytesOfPlan), {.bytes = kMostBytesOfPlan});
  return {plan.at("fits") == true, plan.at("largest")};
}

}  // namespace headroom
