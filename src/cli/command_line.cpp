// SPDX-License-Identifier: Apache-2.0
#include "src/cli/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <sstream>
#include <system_error>

#include "src/cli/ask_worker.h"
#include "src/cli/output.h"
#include "src/cli/program.h"
#include "src/core/error.h"
#include "src/core/text.h"
#include "src/workers/this_process.h"

namespace headroom {
namespace {

void add_commands(CommandLine& line) {
  line.app.name("headroom");
  line.app.description("Measures what techniques that save memory buy when networks are trained.");
  line.app.require_subcommand(1);
  line.app.set_version_flag("--version", [&line] { return version(line.catalog()); });
  for (const auto add : {add_run, add_plan, add_fit, add_why, add_list, add_inspect, add_forward,
                         add_doctor, add_compare, add_gate, add_nightly, add_merge, add_verify,
                         add_report, add_export, add_completion, add_manual}) {
    add(line);
  }
}

/// Takes the command line of another program off the end: `plan ARGUMENTS -- PROGRAM ...`, and so
/// of `fit` and `why`.
int take_program(int argc, char** argv, CommandLine& line) {
  const std::string command = argc < 2 ? "" : argv[1];
  if (command != "plan" && command != "fit" && command != "why") return argc;
  char** const end = argv + argc;
  char** const dashes = std::find(argv, end, std::string_view("--"));
  if (dashes == end) return argc;
  line.program.assign(dashes + 1, end);
  if (line.program.empty())
    throw ConfigError(command + " --: behind it, the program to run is missing");
  return static_cast<int>(dashes - argv);
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// What is wrong with the arguments, and what is allowed: "run: unknown option --devise; did you
/// mean '--device'? Allowed: ...".
std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string prefix = chosen.empty() ? "" : command.get_name() + ": ";
  const std::string help =
      "; " + (chosen.empty() ? "headroom" : "headroom " + command.get_name()) + " --help says more";
  const std::vector<std::string> extra = command.remaining(true);
  if (extra.empty()) return prefix + error.what() + help;

  const std::string& given = extra.front();
  if (given.starts_with("-")) {
    const std::string name = given.substr(0, given.find('='));
    return prefix + "unknown option " + name + "; " + allowed_names(name, option_names(command));
  }
  if (chosen.empty()) {
    return "unknown command " + given + "; " + allowed_names(given, command_names(app));
  }
  return prefix + "one argument too many: " + given + help;
}

/// For whoever calls headroom for the first time.
constexpr std::string_view kFirstSteps =
    "Three things to try:\n"
    "  headroom plan --gpu h100 -- python3 train.py    what a program takes, with no GPU\n"
    "  headroom plan configs/vit_cifar10.yaml          the same, of the cases of a suite\n"
    "  headroom run configs/quickstart.yaml            measures on this machine\n"
    "headroom --help has all commands.\n";

int run(int argc, char** argv, CommandLine& line) {
  add_commands(line);
  if (argc < 2) {
    print(kFirstSteps);
    return kWrongCall;
  }
  argc = take_program(argc, argv, line);
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help or --version
    std::ostringstream text;
    line.app.exit(asked, text, text);
    print(text.str());
    return 0;
  } catch (const CLI::ParseError& error) {
    throw ConfigError(usage_message(line.app, error));
  }
  return line.action();
}

int fail(int code, const std::string& message) {
  say(message);
  return code;
}

/// At once, as what std::bad_alloc passes may need memory itself: to destroy a document, say.
[[noreturn]] void end_without_memory() {
  constexpr std::string_view kMessage = "headroom: the system gives no more memory\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(kMachineLacks);
}

}  // namespace

std::string version(const Catalog& catalog) {
  return "headroom " HEADROOM_VERSION " (commit " + catalog.commit + ", LibTorch " +
         catalog.libtorch + (catalog.cuda_built ? " with CUDA)" : ")");
}

int run_command_line(int argc, char** argv, std::string_view catalog_json) {
  CommandLine line;
  line.catalog_json = catalog_json;
  std::set_new_handler(&end_without_memory);
  try {
    set_inheritance_right();
    return run(argc, argv, line);
  } catch (const ConfigError& error) {
    return fail(kWrongCall, error.what());
  } catch (const ResultsError& error) {
    return fail(kUnusableResults, error.what());
  } catch (const Unsupported& error) {
    return fail(kMachineLacks, error.what());
  } catch (const NoAnswer& error) {
    return fail(error.exit_code, error.what());
  } catch (const std::system_error& error) {
    return fail(kMachineLacks, error.what());
  } catch (const std::exception& error) {
    return fail(kFailed, std::string(error.what()) + " (this is a fault of headroom)");
  }
}

}  // namespace headroom
