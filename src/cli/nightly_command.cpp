// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>

#include "src/cli/ask_worker.h"
#include "src/cli/command_line.h"
#include "src/cli/gate.h"
#include "src/cli/nightly_side.h"
#include "src/cli/output.h"
#include "src/compare/night.h"
#include "src/core/error.h"
#include "src/results/results_folder.h"
#include "src/suite/suite.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr int kProcesses = 5;        // of each side; benchmarks/gate_simulation has the same
constexpr int kRerunProcesses = 10;  // in a round
constexpr int kMostRounds = 6;

struct NightlyOptions {
  std::string old_side;
  std::string new_side;
  std::vector<std::string> suites;
  GateArguments gate;
};

/// A suite file, by the suite's name.
using SuiteFiles = std::map<std::string, std::string>;

/// Suites, and which of their cases: all where there is no name.
using Cases = std::map<std::string, std::vector<std::string>>;

SuiteFiles files_of(const Catalog& catalog, const std::vector<std::string>& files) {
  SuiteFiles suites;
  for (const std::string& file : files) {
    const std::string name = load_suite(file, catalog).name;
    if (suites.emplace(name, file).second) continue;
    throw ConfigError(file + ": another suite of this night is named " + name + " as well");
  }
  return suites;
}

/// A regular expression that finds these names alone.
std::string pattern_of(const std::vector<std::string>& names) {
  std::string pattern;
  for (const std::string& name : names) {
    pattern += pattern.empty() ? "^(" : "|";
    for (const char c : name) {
      if (std::string_view("^$\\.*+?()[]{}|").find(c) != std::string_view::npos) pattern += '\\';
      pattern += c;
    }
  }
  return names.empty() ? "." : pattern + ")$";
}

/// Both sides, measured in turns.
class Turns {
 public:
  Turns(const NightlyOptions& options, const SuiteFiles& suites)
      : sides_{side_of("old", options.old_side), side_of("new", options.new_side)},
        suites_(suites) {
    for (const NightlySide& side : sides_) {  // before anything is measured
      const int code = run_side(side, {"--version"}, interrupts_);
      if (code != 0)
        throw Unsupported(side.program + ": --version ends with " + std::to_string(code) +
                          ", so it can measure nothing");
    }
  }

  bool tries_libtorch() const {
    return std::ranges::any_of(sides_, [](const NightlySide& side) { return side.is_libtorch; });
  }

  /// The order of the sides changes every time, so that neither is always the one that finds the
  /// machine warm.
  void measure(const Cases& cases, int first, int count, const fs::path& out) {
    for (int turn = first; turn < first + count; ++turn) {
      const fs::path number = (turn < 10 ? "0" : "") + std::to_string(turn);
      for (const auto& [suite, names] : cases) {
        for (const std::size_t side :
             turn % 2 == 0 ? std::array<std::size_t, 2>{0, 1} : std::array<std::size_t, 2>{1, 0}) {
          measure_once(sides_[side], suite, names, out / sides_[side].folder / number / suite);
        }
      }
    }
  }

 private:
  void measure_once(const NightlySide& side, const std::string& suite,
                    const std::vector<std::string>& names, const fs::path& out) {
    const int code = run_side(
        side, {"run", suites_.at(suite), "--out", out, "--only", pattern_of(names)}, interrupts_);
    if (code == kInterrupted || interrupts_.count() > 0)
      throw NoAnswer(kInterrupted, "interrupted");
    const bool has_measured = code == 0 || code == kFailed || code == kMachineLacks;
    if (!has_measured || !fs::exists(out / kJournalFile)) {
      throw NoAnswer(code, side.program + " could not measure " + suites_.at(suite));
    }
    // Behind a case that left the machine in a state to measure nothing on.
    if (code == kMachineLacks && !has_all(out, names)) {
      throw Unsupported(side.program + " ended before the last case of " + suites_.at(suite));
    }
  }

  static bool has_all(const fs::path& out, const std::vector<std::string>& names) {
    const std::vector<std::string> missing = read_results(out).not_done;
    return std::ranges::none_of(missing, [&](const std::string& name) {
      return names.empty() || std::ranges::find(names, name) != names.end();
    });
  }

  std::array<NightlySide, 2> sides_;
  const SuiteFiles& suites_;
  Interrupts interrupts_;
};

/// The cases to measure again, or once more.
Cases cases_to_rerun(const GateArguments& gate) {
  const History history(gate.history);
  Cases cases;
  for (const NightlyCase& one : suspects(read_nightly(gate.folder), history, gate.vary.varied())) {
    cases[one.suite].push_back(one.name);
  }
  return cases;
}

int run_night(const Catalog& catalog, NightlyOptions options) {
  const fs::path out = options.gate.folder;
  if (fs::exists(out)) throw ConfigError("--out: " + out.string() + " is there already");
  const SuiteFiles suites = files_of(catalog, options.suites);
  Turns turns(options, suites);
  if (turns.tries_libtorch()) options.gate.vary.names.emplace_back("libtorch");
  Cases everything;
  for (const auto& [name, file] : suites) everything[name] = {};
  turns.measure(everything, 0, kProcesses, out);
  for (int round = 0; round < kMostRounds; ++round) {
    const Cases again = cases_to_rerun(options.gate);
    if (again.empty()) break;
    for (const auto& [suite, names] : again) {
      for (const std::string& name : names) say("measuring again: " + suite + ", " + name);
    }
    turns.measure(again, round * kRerunProcesses, kRerunProcesses, out / "rerun");
  }
  return judge(options.gate);
}

}  // namespace

void add_nightly(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "nightly", "Measure OLD and NEW in turns, and judge: two builds, or two LibTorches");
  const auto options = std::make_shared<NightlyOptions>();
  command
      ->add_option("OLD", options->old_side,
                   "A headroom, a folder that holds one, or a LibTorch (with lib/) to run over")
      ->required();
  command->add_option("NEW", options->new_side, "The same")->required();
  command->add_option("SUITE", options->suites, "Suite files")->required();
  command
      ->add_option("-o,--out", options->gate.folder,
                   "A folder for the night's results; it must not be there yet")
      ->required();
  options->gate.add_to(*command);
  command->callback([&line, options] {
    line.action = [&line, options] { return run_night(line.catalog(), *options); };
  });
}

}  // namespace headroom
