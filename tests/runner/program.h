// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// A row as column -> cell, by the case's name.
using Rows = std::map<std::string, std::map<std::string, std::string>>;
Rows read_rows(const std::filesystem::path& folder);

/// results.csv without what differs from run to run.
Rows lasting_rows(const std::filesystem::path& folder);

/// A suite with one case for each name; a name is that of a behaviour of the test worker.
std::string suite_of(const std::vector<std::string>& behaviours, const std::string& limits);

/// A case of a suite of several ranks; a model is a behaviour of the test worker.
std::string one_case(const std::string& name, const std::string& model,
                     const std::string& techniques = "[ddp]");
/// A suite of such cases.
std::string suite_text(int ranks, const std::string& cases,
                       const std::string& limits = "{silence_s: 20}");

}  // namespace headroom
