// SPDX-License-Identifier: Apache-2.0
#include "src/cli/program_plan.h"

#include <gtest/gtest.h>

#include <csignal>

#include "src/core/error.h"
#include "tests/runner/dry_report.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

/// A program of one process, which reported and ended so.
DryProgram program(ExitStatus exit, const std::function<void(DryReport&)>& change) {
  const TemporaryFolder folder;
  folder.write("1.0.report", dry_report(change));
  DryProgram ended;
  ended.end.exit = exit;
  ended.reports = read_reports(folder.path());
  return ended;
}

int exit_code(const DryProgram& program) {
  return report_program(program, "train.py", {.json = true});
}

void ran_out(DryReport& report) { report.refused_bytes = 7; }
void had_enough(DryReport&) {}

TEST(ProgramPlan, ends_with_a_code_that_says_whether_it_fits) {
  EXPECT_EQ(exit_code(program({}, had_enough)), 0);
  EXPECT_EQ(exit_code(program({}, ran_out)), 0) << "it went on with less";
  EXPECT_EQ(exit_code(program({1, 0}, had_enough)), 1);
  EXPECT_EQ(exit_code(program({1, 0}, ran_out)), 5);
  EXPECT_EQ(exit_code(program({0, SIGKILL}, ran_out)), 5);
  EXPECT_EQ(exit_code(program({0, SIGINT}, had_enough)), 130);
  DryProgram ended = program({0, SIGTERM}, had_enough);
  ended.end.passed_on = SIGTERM;
  EXPECT_EQ(exit_code(ended), 128 + SIGTERM);
}

TEST(ProgramPlan, is_none_of_what_a_dry_run_can_not_follow) {
  const auto calls_fft = [](DryReport& report) { std::strcpy(report.not_modelled, "cufftCreate"); };
  EXPECT_THROW(exit_code(program({}, calls_fft)), Unsupported);
  EXPECT_THROW(exit_code(program({1, 0}, calls_fft)), Unsupported);
  EXPECT_THROW(exit_code(DryProgram{}), ConfigError) << "it used no device";
  const auto damage = [](DryReport& report) { report.launches = -1; };
  EXPECT_THROW(exit_code(program({}, damage)), ConfigError);
  DryProgram stuck = program({0, SIGKILL}, had_enough);
  stuck.end.passed_on = SIGKILL;
  stuck.end.why_stuck = "it waits";
  EXPECT_THROW(exit_code(stuck), Unsupported);
}

}  // namespace
}  // namespace headroom
