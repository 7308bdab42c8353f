// SPDX-License-Identifier: Apache-2.0
#include "src/cli/suite_arguments.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "src/cli/exit_code.h"
#include "src/cli/output.h"
#include "src/cli/progress.h"
#include "src/core/error.h"
#include "src/results/results_folder.h"
#include "src/runner/environment.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// The newest folder below out/SUITE; their names are times, so the last one.
std::filesystem::path newest_folder(const std::filesystem::path& parent) {
  std::filesystem::path newest;
  std::error_code none;  // no such folder: no entries
  for (const auto& entry : std::filesystem::directory_iterator(parent, none)) {
    newest = std::max(newest, entry.path());
  }
  if (newest.empty())
    throw ConfigError("--resume: there is nothing to go on with in " + parent.string());
  return newest;
}

std::filesystem::path folder_of(const SuiteArguments& arguments, const std::string& folder,
                                const Suite& suite) {
  if (!arguments.out.empty()) {
    const std::filesystem::path out = arguments.out;
    return arguments.suites.size() > 1 ? out / suite.name : out;
  }
  const std::filesystem::path parent = std::filesystem::path(folder) / suite.name;
  return arguments.resume ? newest_folder(parent) : parent / utc_now();
}

int exit_code(const std::vector<Row>& rows) {
  const auto some_failed = std::any_of(rows.begin(), rows.end(),
                                       [](const Row& row) { return is_failure(status_of(row)); });
  if (some_failed) return kFailed;
  // One case that the machine can't do is a result; a run with nothing else is not what was asked.
  const auto none_possible =
      !rows.empty() && std::all_of(rows.begin(), rows.end(), [](const Row& row) {
        return status_of(row) == Status::unsupported;
      });
  return none_possible ? kMachineLacks : 0;
}

}  // namespace

void SuiteArguments::add_to(CLI::App& command, const std::string& folder) {
  command.add_option("SUITE", suites, "Suite files");
  command.add_option("--only", only, "Only cases whose name this regular expression finds");
  overrides.add_to(command);
  command.add_option("--out", out, "The folder for results; default: " + folder + "/SUITE/TIME");
  command.add_flag("--resume", resume,
                   "Go on with the results in --out, or in the newest folder of the suite");
  command.add_flag("--snapshot", snapshot,
                   "Write what CUDA's allocator did in each case, for PyTorch's memory_viz");
  command.add_flag("--json", json, "Print JSON");
}

Selection select_cases(const Catalog& catalog, const SuiteArguments& arguments) {
  Selection selection;
  for (const std::string& path : arguments.suites) {
    selection.suites.push_back(load_suite(path, catalog, arguments.overrides.overrides()));
  }
  selection.selects = [](const Case&) { return true; };
  if (arguments.only.empty()) return selection;
  std::regex only;
  try {
    only = std::regex(arguments.only);
  } catch (const std::regex_error&) {
    throw ConfigError("--only: no regular expression: " + arguments.only);
  }
  selection.selects = [only](const Case& one) { return std::regex_search(one.name, only); };
  for (const Suite& suite : selection.suites) {
    if (std::any_of(suite.cases.begin(), suite.cases.end(), selection.selects)) return selection;
  }
  throw ConfigError("--only: no case's name matches " + arguments.only);
}

int run_suites(const Catalog& catalog, const SuiteArguments& arguments, const std::string& folder,
               const std::function<SuiteRunOptions(const Suite&)>& options_of,
               const std::function<std::string(const std::vector<Row>&)>& format) {
  const Selection selection = select_cases(catalog, arguments);
  Interrupts interrupts;
  std::vector<Row> rows;
  for (const Suite& suite : selection.suites) {
    SuiteRunOptions options = options_of(suite);
    options.resume = arguments.resume;
    options.snapshots = arguments.snapshot;
    options.selects = selection.selects;
    options.folder = folder_of(arguments, folder, suite);
    ProgressLines progress(suite.name);
    const SuiteRunResult result = run_suite(catalog, suite, options, interrupts, progress);
    if (result.interrupted || !result.lost.empty()) {
      const auto out = arguments.suites.size() > 1 ? options.folder.parent_path() : options.folder;
      say((result.lost.empty() ? "interrupted" : result.lost) +
          "; what is done is kept. To go on: the same call with --resume and --out " +
          out.string());
      return result.lost.empty() ? kInterrupted : kFailed;
    }
    rows.insert(rows.end(), result.rows.begin(), result.rows.end());
    if (!arguments.json) {
      print(format(result.rows) + (options.folder / kResultsFile).string() + "\n");
    }
  }
  if (arguments.json) print(Json(rows).dump(2) + "\n");
  return exit_code(rows);
}

}  // namespace headroom
