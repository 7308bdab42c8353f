// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/suite/catalog.h"

namespace headroom {

// Exit codes. 0: as asked.
inline constexpr int kFailed = 1;           // some case, or we
inline constexpr int kWrongCall = 2;        // the call or a file of the user is wrong
inline constexpr int kUnusableResults = 3;  // earlier results can't be used
inline constexpr int kMachineLacks = 4;     // something that was asked for
inline constexpr int kDoesNotFit = 5;       // the program that was planned
inline constexpr int kInterrupted = 130;    // by the user; what was done is kept

/// The program's arguments, while they are read. Each subcommand has one function that adds it, and
/// that leaves what is to be done in `action`, which gives the exit code.
struct CommandLine {
  CLI::App app;
  std::string_view catalog_json;
  std::vector<std::string> program;  // what stands behind `--` of plan, fit and why
  std::function<int()> action;

  Catalog catalog() const { return parse_catalog(catalog_json); }
};

void add_run(CommandLine& line);
void add_plan(CommandLine& line);
void add_fit(CommandLine& line);
void add_why(CommandLine& line);
void add_list(CommandLine& line);
void add_inspect(CommandLine& line);
void add_forward(CommandLine& line);
void add_doctor(CommandLine& line);
void add_export(CommandLine& line);
void add_compare(CommandLine& line);
void add_gate(CommandLine& line);
void add_merge(CommandLine& line);
void add_nightly(CommandLine& line);
void add_verify(CommandLine& line);
void add_report(CommandLine& line);
void add_completion(CommandLine& line);
void add_manual(CommandLine& line);

/// What `headroom --version` prints.
std::string version(const Catalog& catalog);

}  // namespace headroom
