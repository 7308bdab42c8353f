// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace headroom {

/// The report of a process that ran dry.
inline constexpr const char* kDryReport = R"({"gpu": "h200", "libtorch": "", "not_modelled": "",
  "total_bytes": 9, "context_bytes": 1, "peak_device_bytes": 2, "refused_bytes": 0,
  "free_when_refused_bytes": 0, "peak_pinned_bytes": 0, "to_device_bytes": 0, "to_host_bytes": 0,
  "collective_bytes": 0, "launches": 3, "product_flops": 4, "undecided_questions": 0})";

}  // namespace headroom
