// SPDX-License-Identifier: Apache-2.0
#include "tests/report/sample_results.h"

#include "tests/results/results_of.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMiB = 1 << 20;

Row identity(const std::string& name, const std::string& techniques) {
  return {{"suite", "sample"},
          {"case", name},
          {"model", "vit"},
          {"techniques", techniques},
          {"kind", "measured"},
          {"device", "cuda"},
          {"device_name", "A100"},
          {"ranks", 1},
          {"batch_size", 8},
          {"global_batch_size", 8},
          {"micro_batch_size", 8},
          {"libtorch", "2.11.0"},
          {"started_at", "2026-11-22T01:00:00Z"}};
}

Json work_of(const std::string& techniques) {
  return {{"train", {{"batch_size", 8}}}, {"techniques", {{{"name", techniques}}}}};
}

}  // namespace

CaseResult sample_case(const std::string& name, const std::string& techniques, double peak_mib,
                       double samples_per_second) {
  Row row = identity(name, techniques);
  const auto peak = static_cast<std::int64_t>(peak_mib * kMiB);
  row["status"] = "ok";
  row["reason"] = "";
  row["run_peak_allocated_bytes"] = peak;
  row["peak_weights_bytes"] = peak / 2;
  row["peak_activations_bytes"] = peak - peak / 2;
  row["step_time_median_ns"] = static_cast<std::int64_t>(8e9 / samples_per_second);
  row["samples_per_second"] = samples_per_second;
  const Json timeline = {{"load", nullptr, peak / 2},
                         {"forward", 0, peak / 2},
                         {"forward", 1, peak},
                         {"backward", 1, peak / 2},
                         {"update", nullptr, peak / 2}};
  return {.name = name,
          .work = work_of(techniques),
          .row = row,
          .record = {{"status", "ok"}, {"step_memory", timeline}}};
}

CaseResult sample_failure(const std::string& name, const std::string& status,
                          const std::string& reason) {
  Row row = identity(name, "sgd");
  row["status"] = status;
  row["reason"] = reason;
  return {.name = name, .work = work_of("sgd"), .row = row};
}

CaseResult sample_plan(CaseResult measured) {
  measured.row["kind"] = "planned";
  measured.row["fits"] = "yes";
  const auto step = measured.row["step_time_median_ns"].get<std::int64_t>();
  measured.row["step_time_estimate_ns"] = step;
  measured.row["step_time_estimate_lower_ns"] = step / 2;
  measured.row["step_time_estimate_upper_ns"] = step * 2;
  measured.row.erase("step_time_median_ns");
  measured.row.erase("samples_per_second");
  measured.row["step_time_lower_bound_ns"] = 1'000'000;
  return measured;
}

Results sample_results(const std::string& suite, const std::string& kind,
                       std::vector<CaseResult> cases) {
  Results results = results_of(suite, cases);
  results.header["kind"] = kind;
  results.header["device"] = kind == "planned" ? "a100-40gb" : "cuda";
  return results;
}

}  // namespace headroom
