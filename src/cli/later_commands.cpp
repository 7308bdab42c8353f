// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "src/cli/command_line.h"
#include "src/core/error.h"

namespace headroom {
namespace {

struct LaterCommand {
  const char* name;
  const char* summary;
};

constexpr std::array<LaterCommand, 1> kLaterCommands = {{
    {"compare", "What got better or worse (not in this version)"},
}};

}  // namespace

void add_later_commands(CommandLine& line) {
  for (const LaterCommand& later : kLaterCommands) {
    CLI::App* command = line.app.add_subcommand(later.name, later.summary);
    command->allow_extras();
    command->callback([&line, name = std::string(later.name)] {
      line.action = [name]() -> int { throw Unsupported(name + ": not in this version"); };
    });
  }
}

}  // namespace headroom
