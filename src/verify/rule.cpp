// SPDX-License-Identifier: Apache-2.0
#include "src/verify/rule.h"

#include "src/core/place.h"

namespace headroom {

using Json = nlohmann::ordered_json;

void Complaints::about(const CaseResult& one, const std::string& what) {
  at(Place{journal_, one.line, 1}.text(), one.name, what);
}

void Complaints::about_folder(const std::string& what) {
  at(Place{journal_, 1, 1}.text(), "", what);
}

void Complaints::at(const std::string& place, const std::string& case_name,
                    const std::string& what) {
  into_.push_back({rule_, grade_, place, case_name, what});
}

void Complaints::because(const std::string& file, const std::string& message) {
  const std::size_t end =
      message.starts_with(file) ? message.find(": ", file.size()) : message.npos;
  if (end == std::string::npos) return at(file, "", message);
  at(message.substr(0, end), "", message.substr(end + 2));
}

const Json& member(const Json& object, std::string_view key) {
  static const Json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

const Json& member_at(const Json& object, std::string_view path) {
  const std::size_t dot = path.find('.');
  const Json& value = member(object, path.substr(0, dot));
  return dot == std::string_view::npos ? value : member_at(value, path.substr(dot + 1));
}

std::optional<std::int64_t> integer_in(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

std::vector<Json> records_of(const CaseResult& one) {
  return one.rank_records.empty() ? std::vector<Json>{one.record} : one.rank_records;
}

bool is_measured(const CaseResult& one) { return text_in(one.row, "kind") == "measured"; }

bool was_timed(const CaseResult& one) {
  return is_measured(one) && status_of(one.row) == Status::ok &&
         member_at(one.work, "train.steps") != 0;
}

bool has_figures(const CaseResult& one) {
  const Status status = status_of(one.row);
  const bool is_of_plan = !is_measured(one) && status == Status::out_of_memory;
  return status == Status::ok || (is_of_plan && one.row.contains("run_peak_allocated_bytes"));
}

}  // namespace headroom
