// SPDX-License-Identifier: Apache-2.0
#include "src/cli/command_line.h"

#include <algorithm>
#include <sstream>
#include <system_error>

#include "src/cli/ask_worker.h"
#include "src/cli/exit_code.h"
#include "src/cli/output.h"
#include "src/cli/usage_error.h"
#include "src/core/error.h"
#include "src/workers/this_process.h"

namespace headroom {
namespace {

void add_commands(CommandLine& line) {
  line.app.name("headroom");
  line.app.description("Measures what techniques that save memory buy when networks are trained.");
  line.app.require_subcommand(1);
  line.app.set_version_flag("--version", [&line] { return version(line.catalog()); });
  for (const auto add : {add_run, add_plan, add_fit, add_list, add_inspect, add_forward, add_doctor,
                         add_compare, add_gate, add_verify, add_report, add_export}) {
    add(line);
  }
}

/// Takes the command line of another program off the end: `plan ARGUMENTS -- PROGRAM ...`.
int take_program(int argc, char** argv, CommandLine& line) {
  if (argc < 2 || std::string_view(argv[1]) != "plan") return argc;
  char** const end = argv + argc;
  char** const dashes = std::find(argv, end, std::string_view("--"));
  if (dashes == end) return argc;
  line.program.assign(dashes + 1, end);
  if (line.program.empty()) throw ConfigError("plan --: behind it, the program to run is missing");
  return static_cast<int>(dashes - argv);
}

int run(int argc, char** argv, CommandLine& line) {
  add_commands(line);
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

}  // namespace

std::string version(const Catalog& catalog) {
  return "headroom " HEADROOM_VERSION " (commit " + catalog.commit + ", LibTorch " +
         catalog.libtorch + (catalog.cuda_built ? " with CUDA)" : ")");
}

int run_command_line(int argc, char** argv, std::string_view catalog_json) {
  turn_write_signals_into_errors();
  CommandLine line;
  line.catalog_json = catalog_json;
  try {
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
