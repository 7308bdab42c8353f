// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>

#include "src/cli/ask_worker.h"
#include "src/cli/command_line.h"
#include "src/cli/exit_code.h"
#include "src/cli/output.h"
#include "src/cli/progress.h"
#include "src/cli/summary.h"
#include "src/cli/table.h"
#include "src/core/error.h"
#include "src/runner/environment.h"
#include "src/runner/suite_run.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

struct RunOptions {
  std::vector<std::string> suites;
  std::string device = "auto";
  std::string only;
  std::vector<std::string> set;
  std::string out;
  int ranks = 0;
  bool resume = false;
  bool dry_run = false;
  bool json = false;
};

std::vector<Suite> load_suites(const Catalog& catalog, const RunOptions& options) {
  std::vector<Override> overrides;
  for (const std::string& text : options.set) overrides.push_back(parse_override(text));
  std::vector<Suite> suites;
  for (const std::string& path : options.suites) {
    suites.push_back(load_suite(path, catalog, overrides));
  }
  return suites;
}

/// Keeps the cases that --only names. Throws ConfigError where it names none.
std::function<bool(const Case&)> selection(const RunOptions& options,
                                           const std::vector<Suite>& suites) {
  if (options.only.empty()) return [](const Case&) { return true; };
  std::regex only;
  try {
    only = std::regex(options.only);
  } catch (const std::regex_error&) {
    throw ConfigError("--only: no regular expression: " + options.only);
  }
  const auto selects = [only](const Case& one) { return std::regex_search(one.name, only); };
  for (const Suite& suite : suites) {
    if (std::any_of(suite.cases.begin(), suite.cases.end(), selects)) return selects;
  }
  throw ConfigError("--only: no case's name matches " + options.only);
}

std::string choose_device(const Catalog& catalog, const std::string& asked) {
  if (asked != "auto") {
    if (asked == "cuda" && !catalog.cuda_built) {
      throw Unsupported("--device cuda: this headroom was built with a LibTorch without CUDA");
    }
    return asked;
  }
  if (!catalog.cuda_built) return "cpu";
  return ask_worker({{"request", "doctor"}}).at("gpus").empty() ? "cpu" : "cuda";
}

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

std::filesystem::path folder_of(const RunOptions& options, const Suite& suite) {
  if (!options.out.empty()) {
    const std::filesystem::path out = options.out;
    return options.suites.size() > 1 ? out / suite.name : out;
  }
  const std::filesystem::path parent = std::filesystem::path("out") / suite.name;
  return options.resume ? newest_folder(parent) : parent / utc_now();
}

int show_cases(const std::vector<Suite>& suites, const std::function<bool(const Case&)>& selects,
               bool json) {
  Json cases = Json::array();
  std::vector<std::vector<std::string>> lines;
  for (const Suite& suite : suites) {
    for (const Case& one : suite.cases) {
      if (!selects(one)) continue;
      cases.push_back(one.to_json());
      const Json* model = one.find("model.name");
      lines.push_back({suite.name, one.name, model == nullptr ? "" : model->get<std::string>(),
                       technique_names(one)});
    }
  }
  print(json ? cases.dump(2) + "\n"
             : format_table({"suite", "case", "model", "techniques"}, lines));
  return 0;
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

int measure(const Catalog& catalog, const RunOptions& options, const std::vector<Suite>& suites,
            const std::function<bool(const Case&)>& selects) {
  SuiteRunOptions run{.worker = worker_path(),
                      .device = choose_device(catalog, options.device),
                      .folder = {},
                      .resume = options.resume,
                      .selects = selects};
  Interrupts interrupts;
  std::vector<Row> rows;
  for (const Suite& suite : suites) {
    run.folder = folder_of(options, suite);
    ProgressLines progress(suite.name);
    const SuiteRunResult result = run_suite(catalog, suite, run, interrupts, progress);
    if (result.interrupted) {
      say("interrupted; what is done is kept. To go on: the same call with --resume and --out " +
          (options.suites.size() > 1 ? run.folder.parent_path() : run.folder).string());
      return kInterrupted;
    }
    rows.insert(rows.end(), result.rows.begin(), result.rows.end());
    if (!options.json)
      print(format_summary(result.rows) + (run.folder / "results.csv").string() + "\n");
  }
  if (options.json) print(Json(rows).dump(2) + "\n");
  return exit_code(rows);
}

int run(const Catalog& catalog, const RunOptions& options) {
  if (options.ranks > 0) throw Unsupported("--ranks: not in this version");
  const std::vector<Suite> suites = load_suites(catalog, options);
  const auto selects = selection(options, suites);
  if (options.dry_run) return show_cases(suites, selects, options.json);
  return measure(catalog, options, suites, selects);
}

}  // namespace

void add_run(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand("run", "Measure the cases of suite files");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("SUITE", options->suites, "Suite files")->required();
  command->add_option("--device", options->device, "Where to measure: auto, cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  command->add_option("--only", options->only,
                      "Only cases whose name this regular expression finds");
  command->add_option("--set", options->set, "K=V, over every case: train.batch_size=4")
      ->expected(1)
      ->take_all();
  command->add_option("--out", options->out, "The folder for results; default: out/SUITE/TIME");
  command->add_option("--ranks", options->ranks, "Processes a case (not in this version)")
      ->check(CLI::PositiveNumber);
  command->add_flag("--resume", options->resume,
                    "Go on with the results in --out, or in the newest folder of the suite");
  command->add_flag("--dry-run", options->dry_run, "Print the cases, measure nothing");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&line, options] {
    line.action = [&line, options] { return run(line.catalog(), *options); };
  });
}

}  // namespace headroom
