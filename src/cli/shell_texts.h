// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

// What a shell and its user read about the commands. It is made of the commands' own tables, so
// that it can't fall behind them.
namespace headroom {

/// A bash script that completes commands, options and, behind --gpu, these names. zsh runs it too,
/// as it says in its first lines.
std::string completion_script(const CLI::App& app, const std::vector<std::string>& gpus);

/// The manual page, for `man -l`: a section for each command.
std::string manual_page(const CLI::App& app, const std::string& version);

}  // namespace headroom
