// SPDX-License-Identifier: Apache-2.0
#include "src/cli/suite_runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <ratio>
#include <regex>
#include <set>
#include <string_view>
#include <system_error>

#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/cli/summary.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json.h"
#include "src/core/text.h"
#include "src/results/columns.h"
#include "src/results/last_run.h"
#include "src/results/results_folder.h"
#include "src/runner/suite_run.h"
#include "src/suite/shard.h"
#include "src/workers/this_process.h"

namespace headroom {
namespace {

constexpr std::string_view kOverwrite = "\r\x1b[K";

/// Progress is a courtesy: where it can't be written at once, the run goes on.
void show(const std::string& text) { try_write(STDERR_FILENO, text, std::chrono::milliseconds(0)); }

bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return no_colour == nullptr || *no_colour == '\0';
}

std::string_view colour_of(Status status) {
  constexpr std::string_view kGreen = "\x1b[32m";
  constexpr std::string_view kYellow = "\x1b[33m";
  constexpr std::string_view kRed = "\x1b[31m";
  if (is_failure(status)) return kRed;
  return status == Status::ok ? kGreen : kYellow;
}

/// Shows a run on standard error: on a terminal one line that is written over while a case runs,
/// with the minutes that are left, and anywhere else one line for each case that ended. The status
/// has a colour on a terminal, unless NO_COLOR is set.
class ProgressLines : public SuiteRunObserver {
 public:
  explicit ProgressLines(std::string suite);

  void said(const std::string& note) override;
  void case_started(std::size_t index, std::size_t count, const Case& started) override;
  void case_progressed(const WorkerProgress& progress) override;
  void case_ended(const Row& row) override;

 private:
  using Clock = std::chrono::steady_clock;

  /// ", about 4 min left", by the cases that ended so far; nothing before the first one did.
  std::string time_left(std::size_t cases) const;

  std::string suite_;
  std::string current_;  // "vit_l16 [2/5] vanilla"
  std::string left_;     // on a terminal: time_left() when the case started
  std::size_t ended_ = 0;
  Clock::time_point start_ = Clock::now();
  bool is_terminal_;
  bool has_colour_;
};

ProgressLines::ProgressLines(std::string suite)
    : suite_(std::move(suite)),
      is_terminal_(isatty(STDERR_FILENO) == 1),
      has_colour_(is_terminal_ && wants_colour()) {}

void ProgressLines::said(const std::string& note) { say(note); }

void ProgressLines::case_started(std::size_t index, std::size_t count, const Case& started) {
  current_ = printable(fmt::format("{} [{}/{}] {}", suite_, index + 1, count, started.name));
  left_ = time_left(count - index);
  case_progressed({});
}

std::string ProgressLines::time_left(std::size_t cases) const {
  if (ended_ == 0) return "";
  const std::chrono::duration<double, std::ratio<60>> so_far = Clock::now() - start_;
  const double minutes = so_far.count() / static_cast<double>(ended_) * static_cast<double>(cases);
  return fmt::format(", about {:.0f} min left", std::ceil(minutes));
}

void ProgressLines::case_progressed(const WorkerProgress& progress) {
  if (!is_terminal_) return;
  std::string text = std::string(kOverwrite) + current_ + ": " + progress.phase;
  if (progress.steps > 0) {
    text += fmt::format(" {}/{}", progress.step, progress.steps);
  }
  show(text + left_);
}

void ProgressLines::case_ended(const Row& row) {
  ++ended_;
  const std::string text = printable(format_row(row));
  if (!is_terminal_) return show(current_ + ": " + text + "\n");
  const std::string start = std::string(kOverwrite) + current_ + ": ";
  if (!has_colour_) return show(start + text + "\n");
  show(start + std::string(colour_of(status_of(row))) + text + "\x1b[0m\n");
}

/// While a suite runs, signals interrupt that. While results are printed, they end the program.
SuiteRunResult run_and_show(const Catalog& catalog, const Suite& suite,
                            const SuiteRunOptions& options) {
  Interrupts interrupts;
  ProgressLines progress(suite.name);
  return run_suite(catalog, suite, options, interrupts, progress);
}

/// The folder of a suite's runs that are given none.
std::filesystem::path folder_of_runs(const std::string& folder, const Suite& suite) {
  return std::filesystem::path(folder) / suite.name;
}

/// The time as a folder's name: stores of artefacts refuse colons.
std::string name_of_now() {
  std::string name = utc_now();
  std::ranges::replace(name, ':', '-');
  return name;
}

/// Where a suite's results go.
std::filesystem::path folder_of(const SuiteArguments& arguments, const std::string& folder,
                                const Suite& suite) {
  if (!arguments.out.empty()) {
    const std::filesystem::path out = arguments.out;
    return arguments.suites.size() > 1 ? out / suite.name : out;
  }
  const std::filesystem::path runs = folder_of_runs(folder, suite);
  if (!arguments.resume) return runs / name_of_now();
  const std::filesystem::path last = last_run(runs);
  if (last.empty())
    throw ConfigError("--resume: there is nothing to go on with in " + runs.string());
  say("--resume: going on in " + last.string());
  return last;
}

/// That it does not fit is what a plan is asked for; one that was to be measured has no figures.
bool lacks_machine(const Row& row) {
  const Status status = status_of(row);
  return status == Status::unsupported ||
         (status == Status::out_of_memory && text_in(row, column::kind) == "measured");
}

/// Throws ConfigError where two suites have one name: their results would share a folder.
void check_names(const std::vector<Suite>& suites) {
  std::set<std::string> names;
  for (const Suite& suite : suites) {
    if (names.insert(suite.name).second) continue;
    throw ConfigError("two of the suites are named " + suite.name +
                      ", and each needs a folder of its own: give them in two calls");
  }
}

/// The cases whose name --only finds; empty: all. Throws ConfigError where it is no regular
/// expression, or finds none.
std::function<bool(const Case&)> names_matching(const std::string& text,
                                                const std::vector<Suite>& suites) {
  if (text.empty()) return [](const Case&) { return true; };
  std::regex only;
  try {
    // The GNU library's matcher that does not try all ways one after the other.
    only = std::regex(text, std::regex::ECMAScript | std::regex_constants::__polynomial);
  } catch (const std::regex_error&) {
    throw ConfigError("--only: no regular expression: " + text);
  }
  const auto matches = [only](const Case& one) { return std::regex_search(one.name, only); };
  for (const Suite& suite : suites) {
    if (std::any_of(suite.cases.begin(), suite.cases.end(), matches)) return matches;
  }
  throw ConfigError("--only: no case's name matches " + text);
}

}  // namespace

Selection select_cases(const Catalog& catalog, const SuiteArguments& arguments) {
  Selection selection;
  for (const std::string& path : arguments.suites) {
    selection.suites.push_back(load_suite(path, catalog, arguments.overrides.overrides()));
  }
  const Shard shard = arguments.shard.empty() ? Shard() : parse_shard(arguments.shard);
  const auto is_named = names_matching(arguments.only, selection.suites);
  selection.selects = [=](const Case& candidate) {
    return is_named(candidate) && shard.holds(candidate.name);
  };
  return selection;
}

int exit_code(const std::vector<Row>& rows) {
  const auto some_failed = std::any_of(rows.begin(), rows.end(),
                                       [](const Row& row) { return is_failure(status_of(row)); });
  if (some_failed) return kFailed;
  // One case that the machine can't do is a result; a run with nothing else is not what was asked.
  const auto none_possible = !rows.empty() && std::all_of(rows.begin(), rows.end(), &lacks_machine);
  return none_possible ? kMachineLacks : 0;
}

int run_suites(const Catalog& catalog, const SuiteArguments& arguments, const std::string& folder,
               const std::function<SuiteRunOptions(const Suite&)>& options_of) {
  const Selection selection = select_cases(catalog, arguments);
  check_names(selection.suites);
  std::vector<std::filesystem::path> folders;  // of the suites, in their order
  for (const Suite& suite : selection.suites) {
    folders.push_back(folder_of(arguments, folder, suite));
    // Behind an interruption --resume goes on with this call, in suites that it kept from beginning
    // as well, and not with an earlier one.
    if (!arguments.out.empty() || selection.suites.size() == 1) continue;
    std::filesystem::create_directories(folders.back());
    remember_last_run(folders.back(), folder_of_runs(folder, suite));
  }
  std::vector<Row> rows;
  std::exception_ptr not_printed;  // is no reason to measure less
  const auto print_if_asked = [&](const std::function<std::string()>& text) {
    if (arguments.json) return;
    try {
      print(text());
    } catch (const std::system_error&) {
      not_printed = std::current_exception();
    }
  };
  const bool has_rounds = arguments.repeat > 1;
  for (int round = 0; round < arguments.repeat; ++round) {
    for (std::size_t i = 0; i < folders.size(); ++i) {
      const Suite& suite = selection.suites[i];
      SuiteRunOptions options = options_of(suite);
      options.resume = arguments.resume;
      options.snapshots = arguments.snapshot;
      options.selects = selection.selects;
      options.folder = has_rounds ? folders[i] / fmt::format("{:02}", round) : folders[i];
      if (!has_rounds) options.runs = folder_of_runs(folder, suite);
      const SuiteRunResult result = run_and_show(catalog, suite, options);
      if (result.interrupted || !result.lost.empty()) {
        const bool is_known = folders.size() > 1;  // the folder: it was given, or is the last one
        say((result.lost.empty() ? "interrupted" : result.lost) +
            "; what is done is kept. To go on: the same call with --resume" +
            (is_known ? "" : " and --out " + folders[i].string()));
        return result.lost.empty() ? kInterrupted : kFailed;
      }
      rows.insert(rows.end(), result.rows.begin(), result.rows.end());
      if (has_rounds) continue;
      print_if_asked([&] {
        return format_summary(result.rows) + (options.folder / kResultsFile).string() + "\n";
      });
    }
  }
  for (std::size_t i = 0; has_rounds && i < folders.size(); ++i) {
    print_if_asked(
        [&] { return format_repeats(read_all_results(folders[i])) + folders[i].string() + "\n"; });
  }
  if (not_printed) std::rethrow_exception(not_printed);
  if (arguments.json) print(json_text(rows));
  return exit_code(rows);
}

}  // namespace headroom
