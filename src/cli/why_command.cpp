// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/arguments.h"
#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/cli/process_table.h"
#include "src/cli/program_arguments.h"
#include "src/cli/reserved_text.h"
#include "src/core/error.h"
#include "src/core/json.h"
#include "src/core/text.h"
#include "src/programs/single_plan.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// PyTorch's own variable; newer versions have PYTORCH_ALLOC_CONF as well, and still read this one.
constexpr const char* kSettings = "PYTORCH_CUDA_ALLOC_CONF";
constexpr const char* kNewSettings = "PYTORCH_ALLOC_CONF";

/// What PyTorch's documentation names against fragmentation, each by itself. A larger limit of
/// splitting changes less; below 20 MiB PyTorch takes none.
constexpr std::array kOtherSettings = {"expandable_segments:True", "max_split_size_mb:128",
                                       "garbage_collection_threshold:0.8",
                                       "backend:cudaMallocAsync"};

struct WhyOptions {
  DryRunArguments dry_run;
  ProgramArguments program;
  std::string ranks;
  bool json = false;
};

std::string own_settings() {
  for (const char* name : {kSettings, kNewSettings}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "default";
}

/// "fits" and the figures of the process that takes most, as it is shown.
Json figures_of(const SinglePlan& plan) {
  Json figures{{"fits", plan.fits}};
  for (const char* name : {"peak_allocated_bytes", "peak_reserved_bytes", "driver_peak_bytes"}) {
    if (plan.largest.contains(name)) figures[name] = plan.largest[name];
  }
  return figures;
}

std::string format_settings(const std::vector<Json>& rows) {
  std::vector<std::vector<std::string>> lines;
  for (const Json& row : rows) {
    const std::string setting = printable(row.at("setting").get<std::string>());
    if (!row.contains("fits")) {
      lines.push_back({setting, "failed", "", "", ""});
      continue;
    }
    lines.push_back({setting, row["fits"] == true ? "yes" : "no",
                     bytes_in(row, "peak_allocated_bytes"), bytes_in(row, "peak_reserved_bytes"),
                     bytes_in(row, "driver_peak_bytes")});
  }
  return "\n" + format_table({kSettings, "fits", "allocated", "reserved", "driver"}, lines,
                             {"allocated", "reserved", "driver"});
}

/// The program under each of the other settings. One that it fails with has no figures.
std::vector<Json> plan_settings(const std::vector<std::string>& words, const DryRun& dry_run,
                                const PlayedRanks& played) {
  std::vector<Json> rows;
  unsetenv(kNewSettings);
  for (const char* setting : kOtherSettings) {
    setenv(kSettings, setting, /*replace=*/1);
    rows.push_back(Json{{"setting", setting}});
    try {
      rows.back().update(figures_of(plan_once(words, dry_run, played, &say)));
    } catch (const NoPlan& none) {
      if (none.exit_code == kInterrupted) throw;
    }
  }
  return rows;
}

int why(const CommandLine& line, const WhyOptions& options) {
  if (line.program.empty()) throw ConfigError("why: behind --, the program to run is missing");
  const PlayedRanks played = options.program.played(options.ranks);
  DryRun dry_run = make_dry_run(line.catalog(), options.dry_run);
  options.program.set(dry_run, played, options.ranks);
  dry_run.holders = true;
  const std::string own = own_settings();
  try {
    const SinglePlan plan = plan_once(line.program, dry_run, played, &say);
    dry_run.holders = false;
    std::vector<Json> rows{{{"setting", own}}};
    rows[0].update(figures_of(plan));
    for (Json& row : plan_settings(line.program, dry_run, played)) rows.push_back(std::move(row));
    if (options.json) {
      print(json_text({{"process", plan.largest}, {"settings", rows}}));
      return 0;
    }
    print(format_processes({plan.largest}));
    print(plan.largest.contains("reserved_peak")
              ? format_reserved(plan.largest["reserved_peak"], "")
              : std::string("what is reserved and not allocated is not known\n"));
    print(format_settings(rows));
    return 0;
  } catch (const NoPlan& none) {
    return none.exit_code;
  }
}

}  // namespace

void add_why(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand("why",
                                              "Why a CUDA program of PyTorch (why -- PROGRAM ...) "
                                              "reserves more than it allocates, and what "
                                              "other settings of the allocator change");
  const auto options = std::make_shared<WhyOptions>();
  options->dry_run.add_to(*command);
  options->program.add_to(*command);
  command->add_option("--ranks", options->ranks, "How many ranks the program has");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback(
      [&line, options] { line.action = [&line, options] { return why(line, *options); }; });
}

}  // namespace headroom
