// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <functional>
#include <string>

#include "src/dry_run/dry_report.h"

namespace headroom {

/// The report of a process that ran dry, as it lies in its file, changed by `change`.
inline std::string dry_report(const std::function<void(DryReport&)>& change = [](DryReport&) {}) {
  DryReport report{};
  report.form = DryReport::kForm;
  std::strcpy(report.gpu, "h200");
  report.has_ended = 1;
  report.total_bytes = 9;
  report.context_bytes = 1;
  report.peak_device_bytes = 2;
  report.launches = 3;
  report.product_flops = 4;
  change(report);
  return {reinterpret_cast<const char*>(&report), sizeof(report)};
}

}  // namespace headroom
