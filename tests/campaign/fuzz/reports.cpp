// SPDX-License-Identifier: Apache-2.0
// What a dry run left.
#include "src/runner/dry_run.h"
#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"
#include "tests/support/temporary_folder.h"

namespace headroom {

void fuzz_reports(std::string_view input) {
  static const TemporaryFolder folder;
  folder.write("1.json", std::string(input));
  const DryReports reports = read_reports(folder.path());
  require(reports.whole.size() + reports.missing == 1, "a report is whole, or is missing");
  if (reports.whole.empty()) return;
  const auto& report = reports.whole.front();
  // What who plans relies on.
  for (const char* name : {"total_bytes", "context_bytes", "peak_device_bytes"}) {
    require(report.at(name).is_number_integer() && report.at(name) >= 0, "bytes are a number");
  }
  require(report.at("undecided_questions").is_number_integer(), "questions are counted");
}

}  // namespace headroom
