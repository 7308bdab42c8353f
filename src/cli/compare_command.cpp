// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <memory>

#include "src/cli/arguments.h"
#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/compare/comparison.h"
#include "src/core/error.h"
#include "src/core/table.h"

namespace headroom {
namespace {

struct CompareOptions {
  std::string old_folder;
  std::string new_folder;
  std::string format = "table";
  VaryArguments vary;
  bool anyway = false;
};

void say_differences(const Comparison& comparison) {
  for (const std::string& text : comparison.machine_differences) say(text);
  for (const CaseChange& one : comparison.cases) {
    for (const std::string& text : one.work_differences) {
      say(one.suite + ", " + one.name + ": " + text);
    }
  }
}

int compare_folders(const CompareOptions& options) {
  const std::vector<Results> old_results = read_all_results(options.old_folder);
  const std::vector<Results> new_results = read_all_results(options.new_folder);
  const Comparison comparison = compare(old_results, new_results, options.vary.varied());
  if (!comparison.is_of_the_same() && !options.anyway) {
    say_differences(comparison);
    throw ResultsError("these are not results of the same machine and work; --anyway shows them");
  }
  const auto format =
      std::ranges::find(kComparisonFormats, options.format, &ComparisonFormat::name);
  print(format->write(comparison));
  return comparison.trend() == Trend::worse ? 1 : 0;
}

}  // namespace

void add_compare(CommandLine& line) {
  CLI::App* command =
      line.app.add_subcommand("compare", "What got better or worse from OLD to NEW results");
  const auto options = std::make_shared<CompareOptions>();
  command
      ->add_option("OLD", options->old_folder,
                   "A results folder, or a folder of several: other suites, or repeats")
      ->required();
  command->add_option("NEW", options->new_folder, "The same")->required();
  command->add_option("--format", options->format, "How to show it")
      ->check(CLI::IsMember(names_of(kComparisonFormats)))
      ->capture_default_str();
  options->vary.add_to(*command);
  command->add_flag("--anyway", options->anyway,
                    "Show results of other machines or other work too, with no verdict on those");
  command->callback(
      [&line, options] { line.action = [options] { return compare_folders(*options); }; });
}

}  // namespace headroom
