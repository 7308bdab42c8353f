// SPDX-License-Identifier: Apache-2.0
#include "src/report/export.h"

#include <array>

namespace headroom {

std::span<const ExportFormat> export_formats() {
  static constexpr std::array kFormats{
      ExportFormat{"google_benchmark", "JSON for Google Benchmark's tools/compare.py",
                   &google_benchmark_export},
      ExportFormat{"github_action", "JSON for github-action-benchmark, customSmallerIsBetter",
                   &github_action_export},
      ExportFormat{"bencher", "Bencher Metric Format, JSON", &bencher_export},
      ExportFormat{"junit", "XML, one test for each case", &junit_export},
      ExportFormat{"markdown", "tables, for $GITHUB_STEP_SUMMARY", &markdown_export},
  };
  return kFormats;
}

}  // namespace headroom
