// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/program.h"

// What tests of the whole program share: they run it as a user does, with the test worker.
namespace headroom {

/// Starts `headroom` with the test catalog and the test worker. `prepare` runs in the child before.
Program start_program(
    const std::vector<std::string>& arguments, const std::function<void()>& prepare = [] {});
Ended run_program(
    const std::vector<std::string>& arguments, const std::function<void()>& prepare = [] {});

/// Numbers of the processes whose parent that is.
std::vector<pid_t> children_of(pid_t parent);

/// A row as column -> cell, by the case's name.
using Rows = std::map<std::string, std::map<std::string, std::string>>;
Rows read_rows(const std::filesystem::path& folder);

/// results.csv without what differs from run to run.
Rows lasting_rows(const std::filesystem::path& folder);

/// A suite with one case for each name; a name is that of a behaviour of the test worker.
std::string suite_of(const std::vector<std::string>& behaviours, const std::string& limits);

}  // namespace headroom
