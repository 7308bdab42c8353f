// SPDX-License-Identifier: Apache-2.0
#include "src/cli/usage_error.h"

#include <vector>

#include "src/core/suggest.h"

namespace headroom {
namespace {

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

}  // namespace

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

}  // namespace headroom
