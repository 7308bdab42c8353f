// SPDX-License-Identifier: Apache-2.0
// Rules about the conditions of a run: one program, one machine, and nobody else at work there.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>

#include "src/results/columns.h"
#include "src/results/journal.h"
#include "src/verify/rule.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

// A step that uses all cores feels more than this of their time.
constexpr double kMaxOtherLoadPercent = 10;

/// Slowed to protect the GPU. Not among them: sw_power_cap, which is the rule on large GPUs.
constexpr std::array<std::string_view, 4> kThrottling = {
    "hw_slowdown", "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"};

constexpr std::array kEnvironment = {column::commit, column::cuda,        column::driver,
                                     column::cpu,    column::device_name, column::environment_hash};

/// A finding for each row whose column is not that of the first row that has it.
template <class Counts>
void expect_one_value(const VerifiedFolder& folder, std::string_view column, Counts counts,
                      Findings& findings) {
  const CaseResult* first = nullptr;
  for (const CaseResult& result : folder.results.cases) {
    if (!result.row.contains(column) || !counts(result)) continue;
    if (first == nullptr) first = &result;
    if (result.row[column] == first->row[column]) continue;
    findings.about(result, std::string(column) + " is " + result.row[column].dump() + "; that of " +
                               first->name + " is " + first->row[column].dump());
  }
}

/// The number of some digits of a text; nothing where one of them is none.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value;
}

/// "2026-08-30T12:34:56Z".
bool is_utc(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] != '0' && text[i] != kForm[i]) return false;
  }
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return false;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  return date.ok() && *hour < 24 && *minute < 60 && *second <= 60;
}

/// What each rank's record says in a column of the GPU; null: it does not.
std::vector<Json> of_ranks(const CaseResult& result, std::string_view column) {
  std::vector<Json> values;
  for (const Json& record : records_of(result)) {
    values.push_back(member(member(record, "columns"), column));
  }
  return values;
}

bool ran_on_gpu(const VerifiedFolder& folder, const CaseResult& result) {
  return was_timed(folder, result) && text_in(result.row, column::device) == "cuda";
}

}  // namespace

void check_same_model(const VerifiedFolder& folder, Findings& findings) {
  std::map<std::string, const CaseResult*> first;  // by all that makes a model
  for (const CaseResult& result : folder.results.cases) {
    // Beside what is frozen a technique trains parameters of its own.
    const bool is_frozen = integer_in(result.row, column::frozen_parameters).value_or(0) > 0;
    if (is_frozen || !result.row.contains(column::parameters)) continue;
    const Json key =
        Json::array({member(result.work, "model"), member_at(result.work, "data.image_size"),
                     member_at(result.work, "data.sequence_length")});
    const CaseResult& other = *first.emplace(key.dump(), &result).first->second;
    const Json& parameters = result.row[column::parameters];
    if (parameters == other.row[column::parameters]) continue;
    findings.about(result, "parameters is " + parameters.dump() + "; that of " + other.name +
                               ", the same model, is " + other.row[column::parameters].dump());
  }
}

void check_timestamps(const VerifiedFolder& folder, Findings& findings) {
  for (const CaseResult& result : folder.results.cases) {
    if (is_utc(text_in(result.row, column::started_at))) continue;
    findings.about(result, "started_at is " + member(result.row, column::started_at).dump() +
                               "; allowed: a time like 2026-08-30T12:34:56Z");
  }
}

void check_order_in_time(const VerifiedFolder& folder, Findings& findings) {
  // Cases may be at work at once.
  const auto& header = folder.results.header;
  if (is_memory_only(header) || header["kind"] == "planned") return;
  std::vector<const CaseResult*> cases;
  for (const CaseResult& result : folder.results.cases) cases.push_back(&result);
  std::ranges::sort(cases, {}, &CaseResult::line);
  for (std::size_t i = 1; i < cases.size(); ++i) {
    const std::string before = text_in(cases[i - 1]->row, column::started_at);
    const std::string now = text_in(cases[i]->row, column::started_at);
    if (before <= now) continue;
    findings.about(*cases[i], "it started at " + now + ", before " + cases[i - 1]->name + " at " +
                                  before + ", which was kept first");
  }
}

void check_commit(const VerifiedFolder& folder, Findings& findings) {
  std::set<std::string> seen;  // a commit is one finding, however many rows have it
  for (const CaseResult& result : folder.results.cases) {
    const std::string commit = text_in(result.row, column::commit);
    if (!seen.insert(commit).second) continue;
    if (commit.empty()) findings.about(result, "the commit is not known");
    if (commit.ends_with('+')) {
      findings.about(result, "the commit is " + commit + ": the tree had changes");
    }
  }
}

void check_environment(const VerifiedFolder& folder, Findings& findings) {
  for (const std::string_view column : kEnvironment) {
    expect_one_value(
        folder, column, [](const CaseResult&) { return true; }, findings);
  }
  if (is_memory_only(folder.results.header)) return;  // on any GPU of one product
  // The row of several ranks has the GPU of one of them.
  const auto has_one_rank = [](const CaseResult& result) {
    return member(result.row, column::ranks) == 1;
  };
  expect_one_value(folder, column::gpu_uuid, has_one_rank, findings);
}

void check_exclusive_gpu(const VerifiedFolder& folder, Findings& findings) {
  for (const CaseResult& result : folder.results.cases) {
    if (!ran_on_gpu(folder, result)) continue;
    for (const Json& others : of_ranks(result, column::gpu_other_processes)) {
      if (others == 0) continue;
      findings.about(result, others.is_null() ? "it is not known who else was on the GPU"
                                              : "other processes on the GPU: " + others.dump());
    }
  }
}

void check_throttling(const VerifiedFolder& folder, Findings& findings) {
  for (const CaseResult& result : folder.results.cases) {
    if (!ran_on_gpu(folder, result)) continue;
    for (const Json& reasons : of_ranks(result, column::gpu_throttle_reasons)) {
      const std::string text = "+" + (reasons.is_string() ? reasons.get<std::string>() : "") + "+";
      const auto is_there = [&](std::string_view reason) {
        return text.find("+" + std::string(reason) + "+") != std::string::npos;
      };
      if (!reasons.is_string()) {
        findings.about(result, "it is not known whether the GPU was slowed");
      } else if (std::ranges::any_of(kThrottling, is_there)) {
        findings.about(result, "the GPU was slowed: " + reasons.get<std::string>());
      }
    }
  }
}

void check_other_load(const VerifiedFolder& folder, Findings& findings) {
  for (const CaseResult& result : folder.results.cases) {
    if (!was_timed(folder, result)) continue;
    const auto load = number_in(result.row, column::other_load_percent);
    if (load && *load <= kMaxOtherLoadPercent) continue;
    findings.about(
        result,
        load ? fmt::format("others kept the cores busy for {:.1f} % of the time; at most {} % "
                           "are allowed",
                           *load, kMaxOtherLoadPercent)
             : "it is not known how busy others kept the cores");
  }
}

}  // namespace headroom
