// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/compare/night.h"
#include "src/core/enum_names.h"
#include "src/core/text.h"
#include "src/results/columns.h"
#include "src/runner/suite_run.h"

namespace headroom {
namespace {

struct GateOptions {
  std::string folder;
  std::string history;
  bool suspects = false;
};

std::string lights_table(const Night& night) {
  std::vector<std::vector<std::string>> lines;
  for (const NightlyCase& one : night.cases) {
    lines.push_back({one.suite, one.name, std::string(enum_name(one.light)), one.reason});
  }
  return format_table({"suite", "case", "light", "reason"}, lines);
}

/// The commit that a side's results were made with.
std::string commit_of(const std::vector<Results>& results) {
  for (const Results& one : results) {
    if (!one.cases.empty()) return text_in(one.cases.front().row, column::commit);
  }
  return "";
}

int show_suspects(const NightlyResults& results, const History& history) {
  for (const NightlyCase& one : suspects(results, history)) {
    print(printable(one.suite) + "\t" + printable(one.name) + "\n");
  }
  return 0;
}

int gate(const GateOptions& options) {
  const NightlyResults results = read_nightly(options.folder);
  History history(options.history);
  if (options.suspects) return show_suspects(results, history);
  const Night night = judge_night(results, history);
  history.add(results.journals(), utc_now(), commit_of(results.old_results),
              commit_of(results.new_results), night.cases);
  print(comparison_table(night.comparison) + "\n" + lights_table(night) + "\n" +
        std::string(enum_name(night.light())) + "\n");
  return night.light() == Light::red ? 1 : 0;
}

}  // namespace

void add_gate(CommandLine& line) {
  CLI::App* command =
      line.app.add_subcommand("gate", "Judge a night's results, and keep it in the history");
  const auto options = std::make_shared<GateOptions>();
  command
      ->add_option("FOLDER", options->folder,
                   "What ci/nightly left: old/, new/ and, where it was run again, rerun/")
      ->required();
  command->add_option("--history", options->history, "The nights so far, a file of SQLite")
      ->required();
  command->add_flag("--suspects", options->suspects,
                    "Only print the cases whose time a rerun has to confirm: suite, TAB, case");
  command->callback([&line, options] { line.action = [options] { return gate(*options); }; });
}

}  // namespace headroom
