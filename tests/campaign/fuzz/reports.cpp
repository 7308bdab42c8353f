// SPDX-License-Identifier: Apache-2.0
// What a dry run left.
#include "src/dry_run/dry_report.h"
#include "src/runner/dry_run.h"
#include "tests/campaign/fuzz/checks.h"
#include "tests/campaign/fuzz/targets.h"
#include "tests/support/temporary_folder.h"

namespace headroom {

void fuzz_reports(std::string_view input) {
  static const TemporaryFolder folder;
  folder.write("1.report", std::string(input));
  const DryReports reports = read_reports(folder.path());
  require(reports.whole.size() + reports.damaged == 1, "a report is whole, or is damaged");
  if (reports.whole.empty()) return;
  const auto& report = reports.whole.front();
  for (const CountOfReport& count : kCountsOfReport) {
    if (count.is_known != nullptr && !report.contains(count.name)) continue;
    const auto least = count.value == &DryReport::free_when_refused_bytes
                           ? -report.at("context_bytes").get<std::int64_t>()
                           : 0;
    require(report.at(count.name) >= least, "what is counted is a number that can be");
  }
}

}  // namespace headroom
