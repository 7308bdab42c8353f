// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <memory>

#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/cli/suite_runs.h"
#include "src/cli/summary.h"
#include "src/core/json.h"
#include "src/results/results.h"
#include "src/runner/merge.h"

namespace headroom {
namespace {

struct MergeOptions {
  std::vector<std::string> folders;
  std::string out;
  bool json = false;
};

int merge(const Catalog& catalog, const MergeOptions& options) {
  const std::vector<Results> all = read_all_results(options.folders);
  std::map<std::string, std::vector<const Results*>> suites;
  for (const Results& one : all) suites[one.suite()].push_back(&one);
  std::vector<Row> rows;
  bool is_whole = true;
  for (const auto& [suite, parts] : suites) {
    const std::filesystem::path out = options.out;
    const Merged merged = merge_results(catalog, parts, suites.size() > 1 ? out / suite : out);
    rows.insert(rows.end(), merged.rows.begin(), merged.rows.end());
    say(fmt::format("{}: {} of {} cases, of {} folders", suite, merged.rows.size(),
                    merged.rows.size() + merged.not_done.size(), parts.size()));
    if (merged.not_done.empty()) continue;
    is_whole = false;
    say(fmt::format("{}: not done: {}", suite, fmt::join(merged.not_done, ", ")));
  }
  print(options.json ? json_text(rows) : format_summary(rows));
  return is_whole ? exit_code(rows) : kFailed;
}

}  // namespace

void add_merge(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "merge", "Bring the results of a suite's shards together, as if they were of one run");
  const auto options = std::make_shared<MergeOptions>();
  command->add_option("FOLDER", options->folders, "Results folders, or folders of those")
      ->required();
  command->add_option("-o,--out", options->out, "The folder for them; it must hold no results yet")
      ->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&line, options] {
    line.action = [&line, options] { return merge(line.catalog(), *options); };
  });
}

}  // namespace headroom
