// SPDX-License-Identifier: Apache-2.0
#include "src/report/course.h"

namespace headroom {

using Json = nlohmann::ordered_json;

std::vector<CoursePlace> read_course(const Json& record) {
  if (!record.is_object() || !record.contains("step_memory")) return {};
  std::vector<CoursePlace> course;
  for (const Json& place : record["step_memory"]) {
    const bool is_place = place.is_array() && place.size() == 3 && place[0].is_string() &&
                          (place[1].is_null() || place[1].is_number_integer()) &&
                          place[2].is_number() && place[2].get<double>() >= 0;
    if (!is_place) return {};
    CoursePlace& one = course.emplace_back();
    one.phase = place[0].get<std::string>();
    if (!place[1].is_null()) one.block = place[1].get<std::int64_t>();
    one.bytes = place[2].get<double>();
  }
  return course;
}

}  // namespace headroom
