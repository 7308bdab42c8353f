// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "src/cli/command_line.h"
#include "src/cli/gate.h"
#include "src/cli/output.h"
#include "src/compare/night.h"
#include "src/core/table.h"
#include "src/core/text.h"
#include "src/results/columns.h"
#include "src/runner/suite_run.h"

namespace headroom {
namespace {

struct GateOptions {
  GateArguments gate;
  bool suspects = false;
};

/// The commit that a side's results were made with.
std::string commit_of(const std::vector<Results>& results) {
  for (const Results& one : results) {
    if (!one.cases.empty()) return text_in(one.cases.front().row, column::commit);
  }
  return "";
}

int show_suspects(const GateArguments& arguments) {
  const NightlyResults results = read_nightly(arguments.folder);
  const History history(arguments.history);
  for (const NightlyCase& one : suspects(results, history, arguments.vary.varied())) {
    print(printable(one.suite) + "\t" + printable(one.name) + "\n");
  }
  return 0;
}

}  // namespace

void GateArguments::add_to(CLI::App& command) {
  command.add_option("--history", history, "The nights so far, a file of JSON Lines")->required();
  command.add_option("--format", format, "How to show it")
      ->check(CLI::IsMember(names_of(night_formats())))
      ->capture_default_str();
  vary.add_to(command);
}

int judge(const GateArguments& arguments) {
  const NightlyResults results = read_nightly(arguments.folder);
  History history(arguments.history);
  const Night night = judge_night(results, history, arguments.vary.varied());
  history.add(results.journals(), utc_now(), commit_of(results.old_results),
              commit_of(results.new_results), night.cases, night.comparison.varied);
  const auto format = std::ranges::find(night_formats(), arguments.format, &NightFormat::name);
  print(format->write(night));
  return night.light() == Light::red ? 1 : 0;
}

void add_gate(CommandLine& line) {
  CLI::App* command =
      line.app.add_subcommand("gate", "Judge a night's results, and keep it in the history");
  const auto options = std::make_shared<GateOptions>();
  command
      ->add_option("FOLDER", options->gate.folder,
                   "What `nightly` left: old/, new/ and, where it was run again, rerun/")
      ->required();
  options->gate.add_to(*command);
  command->add_flag("--suspects", options->suspects,
                    "Only print the cases whose time a rerun has to confirm: suite, TAB, case");
  command->callback([&line, options] {
    line.action = [options] {
      return options->suspects ? show_suspects(options->gate) : judge(options->gate);
    };
  });
}

}  // namespace headroom
