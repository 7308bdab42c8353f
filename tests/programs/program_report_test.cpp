// SPDX-License-Identifier: Apache-2.0
#include "src/programs/program_report.h"

#include <gtest/gtest.h>

#include "tests/runner/dry_report.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

/// Of one process.
DryReports reports(const std::function<void(DryReport&)>& change) {
  const TemporaryFolder folder;
  folder.write("1.0.report", dry_report(change));
  return read_reports(folder.path());
}

DryReports reserves(std::int64_t bytes) {
  return reports([&](DryReport& report) {
    report.knows_allocator = 1;
    report.peak_reserved_bytes = bytes;
    report.undecided_questions = 1;
  });
}

TEST(ProgramReport, has_the_least_and_the_most_that_was_reserved) {
  DryProgram program;
  program.reports = reserves(6);
  program.bounds = {{{}, /*is_good=*/true, reserves(5)}, {{}, /*is_good=*/true, reserves(4)}};
  const auto process = make_report(program, "train.py").processes.at(0);
  EXPECT_EQ(process["peak_reserved_bytes"], 6);
  EXPECT_EQ(process["peak_reserved_lower_bytes"], 4);
  EXPECT_EQ(process["peak_reserved_upper_bytes"], 6);
  program.bounds[1].is_good = false;
  EXPECT_FALSE(make_report(program, "train.py").processes[0].contains("peak_reserved_lower_bytes"));
}

TEST(ProgramReport, tells_what_is_missing_where_it_does_not_fit) {
  DryProgram program;
  program.end.exit = {1, 0};
  program.reports = reports([](DryReport& report) { report.refused_bytes = 7; });
  EXPECT_FALSE(make_report(program, "train.py").fits);
  EXPECT_FALSE(make_report(program, "train.py").processes[0].contains("missing_bytes"));
  program.without_end = reports([](DryReport& report) { report.peak_device_bytes = 14; });
  const auto process = make_report(program, "train.py").processes.at(0);
  EXPECT_EQ(process["missing_bytes"], 14 - 9) << "of a device of 9";
  EXPECT_EQ(process["without_end"]["driver_peak_bytes"], 14);
}

TEST(ProgramReport, tells_that_it_fits_closely_by_what_is_left_beside_the_context) {
  const auto process_of = [](std::int64_t allocated, int exit_code = 0) {
    DryProgram program;
    program.end.exit = {exit_code, 0};
    program.reports = reports([&](DryReport& report) {
      report.knows_allocator = 1;
      report.total_bytes = 1100;
      report.context_bytes = 100;
      report.peak_allocated_bytes = allocated;
      report.out_of_memory_errors = 1;
    });
    return make_report(program, "train.py").processes.at(0);
  };
  EXPECT_FALSE(process_of(960).contains("fits_closely"));
  EXPECT_EQ(process_of(961)["fits_closely"], true);
  EXPECT_FALSE(process_of(961, 1).contains("fits_closely")) << "it does not fit";
}

TEST(ProgramReport, says_what_nccl_takes_where_it_takes_any) {
  const auto process_of = [](std::int64_t bytes) {
    DryProgram program;
    program.reports = reports([&](DryReport& report) { report.nccl_bytes = bytes; });
    return make_report(program, "train.py").processes.at(0);
  };
  EXPECT_FALSE(process_of(0).contains("nccl_bytes"));
  EXPECT_EQ(process_of(7)["nccl_bytes"], 7);
}

TEST(ProgramReport, knows_the_process_that_takes_most) {
  ProgramReport report;
  for (const int bytes : {3, 5, 4}) report.processes.push_back({{"driver_peak_bytes", bytes}});
  EXPECT_EQ(report.largest()["driver_peak_bytes"], 5);
}

}  // namespace
}  // namespace headroom
