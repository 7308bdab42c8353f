// SPDX-License-Identifier: Apache-2.0
#include "src/programs/kept_program.h"

#include <gtest/gtest.h>

#include "src/core/error.h"
#include "src/results/columns.h"
#include "src/results/results.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

Catalog catalog() {
  Catalog catalog;
  for (const ColumnEntry& entry : kColumns) {
    catalog.columns.push_back({.name = std::string(entry.name),
                               .type = entry.type,
                               .group = entry.group,
                               .summary = "",
                               .origin = std::string(entry.origin),
                               .across_ranks = entry.across_ranks});
  }
  return catalog;
}

ProgramCase train() {
  ProgramCase program;
  program.name = "train";
  program.words = {"python3", "train.py"};
  program.ranks = 2;
  program.dry_run.gpu = "h200";
  return program;
}

Json process(int rank, int bytes) {
  return {{"rank", rank},
          {"gpu", "h200"},
          {"libtorch", ""},
          {"total_bytes", 9},
          {"context_bytes", 1},
          {"driver_peak_bytes", bytes},
          {"peak_allocated_bytes", bytes - 1}};
}

TEST(KeptProgram, has_a_row_of_the_process_that_takes_most) {
  const TemporaryFolder folder;
  const Catalog columns = catalog();
  ProgramReport report;
  report.processes = {process(0, 4), process(1, 5)};
  KeptProgram(columns, train(), folder.path()).keep(report, "");
  const Results results = read_results(folder.path());
  ASSERT_EQ(results.cases.size(), 1U);
  const Row& row = results.cases[0].row;
  EXPECT_EQ(row.at(column::case_), "train");
  EXPECT_EQ(row.at(column::kind), "planned");
  EXPECT_EQ(row.at(column::status), "ok");
  EXPECT_EQ(row.at(column::fits), "yes");
  EXPECT_EQ(row.at(column::ranks), 2);
  EXPECT_EQ(row.at(column::peak_rank), 1);
  EXPECT_EQ(row.at(column::driver_peak_bytes), 5);
  EXPECT_EQ(row.at(column::run_peak_allocated_bytes), 4);
  EXPECT_EQ(results.cases[0].record.at("processes").size(), 2U);
  EXPECT_EQ(results.cases[0].work.at("program"), Json({"python3", "train.py"}));
  EXPECT_THROW(KeptProgram(columns, train(), folder.path()), ConfigError) << "there are results";
}

TEST(KeptProgram, that_does_not_fit_has_the_figures_of_memory_without_end) {
  const TemporaryFolder folder;
  const Catalog columns = catalog();
  ProgramReport report;
  report.processes = {process(0, 8)};
  report.processes[0]["missing_bytes"] = 3;
  report.processes[0]["without_end"] = {{"driver_peak_bytes", 12}};
  report.has_failed = true;
  report.fits = false;
  KeptProgram(columns, train(), folder.path()).keep(report, "ended with exit status 1");
  const Row row = read_results(folder.path()).cases.at(0).row;
  EXPECT_EQ(row.at(column::status), "out_of_memory");
  EXPECT_EQ(row.at(column::fits), "no");
  EXPECT_EQ(row.at(column::missing_bytes), 3);
  EXPECT_EQ(row.at(column::driver_peak_bytes), 12);
}

TEST(KeptProgram, that_failed_or_could_not_be_followed_has_no_figures) {
  const Catalog columns = catalog();
  ProgramReport report;
  report.processes = {process(0, 4)};
  report.has_failed = true;
  const TemporaryFolder failed;
  KeptProgram(columns, train(), failed.path()).keep(report, "ended with exit status 1");
  const Row row = read_results(failed.path()).cases.at(0).row;
  EXPECT_EQ(row.at(column::status), "failed");
  EXPECT_EQ(row.at(column::reason), "ended with exit status 1");
  EXPECT_FALSE(row.contains(column::driver_peak_bytes));
  const TemporaryFolder lost;
  KeptProgram(columns, train(), lost.path()).keep_unsupported("it called cusolver");
  EXPECT_EQ(read_results(lost.path()).cases.at(0).row.at(column::status), "unsupported");
}

TEST(NameOfProgram, is_that_of_its_script) {
  EXPECT_EQ(name_of_program({"torchrun", "--nproc", "8", "/home/me/train.py", "x.py"}), "train");
  EXPECT_EQ(name_of_program({"/usr/bin/trainer", "--fast"}), "trainer");
  EXPECT_EQ(name_of_program({"python3", "my train.py"}), "my_train");
  EXPECT_EQ(name_of_program({"python3", "_.py"}), "program");
}

}  // namespace
}  // namespace headroom
