// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// The most that was live at a place of the step.
struct CoursePlace {
  std::string phase;
  std::optional<std::int64_t> block;
  double bytes = 0;
};

/// The places of a record's `step_memory`, in the order of time; none where it has none, or what
/// it has is of another form.
std::vector<CoursePlace> read_course(const nlohmann::ordered_json& record);

}  // namespace headroom
