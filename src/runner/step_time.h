// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace headroom {

/// How long a step of a training is estimated to last on the GPU that was played, and between which
/// times (docs/time.md).
struct StepTime {
  std::int64_t estimate_ns;
  std::int64_t lower_ns;
  std::int64_t upper_ns;
};

/// By a dry run's report. Nothing: no step was timed.
std::optional<StepTime> step_time_of(const nlohmann::ordered_json& report);

/// Adds the three under the names that rows and plans have for them, step_time_estimate_ns and so
/// on.
void add_step_time(nlohmann::ordered_json& into, const StepTime& step);

}  // namespace headroom
