// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/runner/dry_report.h"

// The records and reports of the test worker.
namespace headroom {

using Json = nlohmann::ordered_json;

inline double shifted(double value, const Json& request_case, const char* option) {
  for (const Json& technique : request_case["techniques"]) value += technique.value(option, 0.0);
  return value;
}

inline double loss_of(const Json& request_case) {
  const double loss = 2.0 + request_case["train"]["batch_size"].get<double>() / 3;
  return shifted(loss, request_case, "loss_shift");
}

inline Json record_of(const Json& request_case, int rank) {
  const std::int64_t batch = request_case["train"]["batch_size"];
  const std::int64_t techniques = static_cast<std::int64_t>(request_case["techniques"].size());
  const double loss = loss_of(request_case);
  return {
      {"status", "ok"},
      {"reason", ""},
      {"columns",
       {{"device_name", "a test"},
        {"parameters", 1000},
        {"run_peak_allocated_bytes", batch * 1'000'000 / (1 + techniques) + rank * 3 % 4 * 1000},
        {"peak_phase", "backward of rank " + std::to_string(rank)},
        {"step_time_median_ns", batch * 1000 + rank},
        {"samples_per_second", 1e6 / 3 - rank},
        {"first_loss", loss},
        {"first_gradient_norm", shifted(5.0, request_case, "gradient_shift")},
        {"last_loss", loss / 2}}},
      {"step_time_ns", {1, 2, 3}},
      {"loss", {loss, loss / 2}}};
}

/// With the most steps that a case may have, and a peak of many kinds of tensors.
inline Json as_long_as_can_be(Json record) {
  record["loss"] = Json::array();
  for (int i = 0; i < 20'001; ++i) record["loss"].push_back(1.0 / 3 + i);
  record["step_time_ns"] = std::vector<std::int64_t>(10'000, 1'234'567'890);
  for (int i = 0; i < 8192; ++i) {
    record["peak_tensors"].push_back(
        {i + 1, 123'456'789, "activations", "forward", i, "aten::native_layer_norm_backward"});
  }
  return record;
}

inline Json with(Json record, const char* key, const Json& value) {
  record[key] = value;
  return record;
}

inline Json out_of_memory(const Json& record) {
  return with(with(record, "status", "out_of_memory"), "reason", "1 GiB asked, 0 free");
}

inline Json with_column(Json record, const char* key, const Json& value) {
  record["columns"][key] = value;
  return record;
}

/// As a dry run does in which so many answers hung on the host's pace, and a convolution may copy
/// so many bytes.
inline void leave_report(int undecided, std::int64_t copied_bytes = 0) {
  std::ofstream(std::getenv("HEADROOM_DRY_RUN_REPORT") + std::string("/1.0.report"))
      << dry_report([&](DryReport& report) {
           report.undecided_questions = undecided;
           report.layout_copies_bytes = copied_bytes;
         });
}

/// Which convolutions work on copies.
inline std::string copying() {
  const char* which = std::getenv("HEADROOM_DRY_RUN_LAYOUT_COPIES");
  return which == nullptr ? "none" : which;
}

inline bool is_overcommitted() {
  return std::string_view(std::getenv("HEADROOM_DRY_RUN_OVERCOMMIT")) == "1";
}

inline bool is_bound() { return std::getenv("HEADROOM_DRY_RUN_HOST_NS") != nullptr; }

inline bool is_with_slow_host() {
  return is_bound() && std::string_view(std::getenv("HEADROOM_DRY_RUN_HOST_NS")) == "slow";
}

}  // namespace headroom
