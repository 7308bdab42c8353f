// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/results/results.h"

// Results as a journal would give them, for what shows and compares them.
namespace headroom {

/// A case that ended as `row` says; its work is the same wherever its name is.
inline CaseResult case_result(const std::string& name, const Row& row) {
  return {.name = name,
          .work = {{"model", {{"name", name}}}},
          .gate = nullptr,
          .environment = nullptr,
          .row = row,
          .record = nullptr};
}

inline CaseResult ok_case(const std::string& name, std::int64_t bytes, std::int64_t step_ns) {
  return case_result(name, {{"case", name},
                            {"status", "ok"},
                            {"run_peak_allocated_bytes", bytes},
                            {"pinned_peak_bytes", 0},
                            {"step_time_median_ns", step_ns},
                            {"step_time_samples", 5}});
}

inline CaseResult ended_case(const std::string& name, const std::string& status,
                             const std::string& reason) {
  return case_result(name, {{"case", name}, {"status", status}, {"reason", reason}});
}

/// Results on the CPU.
inline Results results_of(const std::string& suite, const std::vector<CaseResult>& cases,
                          const std::vector<std::string>& not_done = {}) {
  Results results;
  results.journal = "out/" + suite + "/journal.jsonl";
  auto works = nlohmann::ordered_json::object();
  for (const CaseResult& one : cases) works[one.name] = one.work;
  for (const std::string& name : not_done) works[name] = {{"model", {{"name", name}}}};
  results.header = {{"format", 2},    {"suite", suite}, {"kind", "measured"}, {"device", "cpu"},
                    {"libtorch", ""}, {"worker", ""},   {"cases", works}};
  results.cases = cases;
  results.not_done = not_done;
  return results;
}

}  // namespace headroom
