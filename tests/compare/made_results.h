// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/results/results_of.h"

namespace headroom {

/// A case that ended as `ok` in one process: two weights and an activation of 1 MiB in each of two
/// blocks at the peak, and a step of so many ns.
inline CaseResult made_case(const std::string& name, double step_time_ns = 1e8) {
  using Json = nlohmann::ordered_json;
  constexpr std::int64_t kMiB = 1 << 20;
  CaseResult one{.name = name,
                 .work = {{"train", {{"batch_size", 8}, {"held_out_samples", 100}}},
                          {"techniques", Json::array()}},
                 .gate = {{"time_percent", 3.0}, {"reserved_bytes", 20 * kMiB}},
                 .environment = {{"cores", 2}, {"variables", Json::object()}},
                 .row = {{"suite", "s"},
                         {"case", name},
                         {"kind", "measured"},
                         {"device", "cpu"},
                         {"status", "ok"},
                         {"reason", ""},
                         {"precision", "float32"},
                         {"run_peak_allocated_bytes", 4 * kMiB},
                         {"peak_rounding_bytes", 0},
                         {"peak_phase", "backward"},
                         {"peak_block", 1},
                         {"peak_operator", "aten::mm"},
                         {"step_time_median_ns", step_time_ns},
                         {"step_time_min_ns", step_time_ns},
                         {"first_loss", 0.7},
                         {"held_out_accuracy", 0.9}},
                 .record = Json::object()};
  one.record["peak_tensors"] = {{2, kMiB, "weights", "build", nullptr, "aten::empty"},
                                {1, kMiB, "activations", "forward", 0, "aten::add"},
                                {1, kMiB, "activations", "forward", 1, "aten::add"}};
  return one;
}

/// The results of one process for each of its cases.
inline Results made_results(const std::vector<CaseResult>& cases) { return results_of("s", cases); }

/// A case by as many processes as there are times.
inline std::vector<Results> made_repeats(const std::vector<double>& step_times_ns) {
  std::vector<Results> list;
  for (const double time : step_times_ns) list.push_back(made_results({made_case("a", time)}));
  return list;
}

}  // namespace headroom
