// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/cli/arguments.h"

namespace CLI {
class App;
}

namespace headroom {

/// How a night is judged: of `gate` and `nightly`.
struct GateArguments {
  std::string folder;   // with old/, new/ and, where it was run again, rerun/
  std::string history;  // a file of JSON Lines
  std::string format = "table";
  VaryArguments vary;

  /// All but the folder.
  void add_to(CLI::App& command);
};

/// Judges the night, keeps it in the history and prints it. Gives the exit code: 1 is red.
int judge(const GateArguments& arguments);

}  // namespace headroom
