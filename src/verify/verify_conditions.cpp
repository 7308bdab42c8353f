// SPDX-License-Identifier: Apache-2.0
// Rules about the conditions of a run: one program, one machine, and nobody else at work there.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>

#include "src/verify/rule.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

// More than this of the cores' time is felt in a step that uses all of them.
constexpr double kMostOtherLoadPercent = 10;

/// Slowed to protect the GPU. Not among them: sw_power_cap, which is the rule on large GPUs.
constexpr std::array<std::string_view, 4> kThrottling = {
    "hw_slowdown", "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"};

constexpr std::array<const char*, 6> kEnvironment = {"commit", "cuda",        "driver",
                                                     "cpu",    "device_name", "environment_hash"};

/// Complains where a column is not the same in all rows that have it.
template <class Counts>
void expect_one_value(const VerifiedFolder& folder, const char* column, Counts counts,
                      Complaints& complaints) {
  const CaseResult* first = nullptr;
  for (const CaseResult& one : folder.results.cases) {
    if (!one.row.contains(column) || !counts(one)) continue;
    if (first == nullptr) first = &one;
    if (one.row[column] == first->row[column]) continue;
    complaints.about(one, std::string(column) + " is " + one.row[column].dump() + "; that of " +
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
std::vector<Json> of_ranks(const CaseResult& one, const char* column) {
  std::vector<Json> values;
  for (const Json& record : records_of(one)) {
    values.push_back(member(member(record, "columns"), column));
  }
  return values;
}

bool ran_on_gpu(const CaseResult& one) {
  return was_timed(one) && text_in(one.row, "device") == "cuda";
}

}  // namespace

void check_same_model(const VerifiedFolder& folder, Complaints& complaints) {
  std::map<std::string, const CaseResult*> first;  // by all that makes a model
  for (const CaseResult& one : folder.results.cases) {
    if (!one.row.contains("parameters")) continue;
    const Json key = Json::array({member(one.work, "model"), member_at(one.work, "data.image_size"),
                                  member_at(one.work, "data.sequence_length")});
    const CaseResult& other = *first.emplace(key.dump(), &one).first->second;
    const Json& parameters = one.row["parameters"];
    if (parameters == other.row["parameters"]) continue;
    complaints.about(one, "parameters is " + parameters.dump() + "; that of " + other.name +
                              ", the same model, is " + other.row["parameters"].dump());
  }
}

void check_timestamps(const VerifiedFolder& folder, Complaints& complaints) {
  for (const CaseResult& one : folder.results.cases) {
    if (is_utc(text_in(one.row, "started_at"))) continue;
    complaints.about(one, "started_at is " + member(one.row, "started_at").dump() +
                              "; allowed: a time like 2026-08-30T12:34:56Z");
  }
}

void check_order_in_time(const VerifiedFolder& folder, Complaints& complaints) {
  std::vector<const CaseResult*> cases;
  for (const CaseResult& one : folder.results.cases) cases.push_back(&one);
  std::ranges::sort(cases, {}, &CaseResult::line);
  for (std::size_t i = 1; i < cases.size(); ++i) {
    const std::string before = text_in(cases[i - 1]->row, "started_at");
    const std::string now = text_in(cases[i]->row, "started_at");
    if (before <= now) continue;
    complaints.about(*cases[i], "it started at " + now + ", before " + cases[i - 1]->name + " at " +
                                    before + ", which was kept first");
  }
}

void check_commit(const VerifiedFolder& folder, Complaints& complaints) {
  std::set<std::string> seen;  // one complaint is enough for all rows of a commit
  for (const CaseResult& one : folder.results.cases) {
    const std::string commit = text_in(one.row, "commit");
    if (!seen.insert(commit).second) continue;
    if (commit.empty()) complaints.about(one, "the commit is not known");
    if (commit.ends_with('+')) {
      complaints.about(one, "the commit is " + commit + ": the tree had changes");
    }
  }
}

void check_environment(const VerifiedFolder& folder, Complaints& complaints) {
  for (const char* column : kEnvironment) {
    expect_one_value(
        folder, column, [](const CaseResult&) { return true; }, complaints);
  }
  // Of several ranks the row has the GPU of one of them.
  const auto has_one_rank = [](const CaseResult& one) { return member(one.row, "ranks") == 1; };
  expect_one_value(folder, "gpu_uuid", has_one_rank, complaints);
}

void check_exclusive_gpu(const VerifiedFolder& folder, Complaints& complaints) {
  for (const CaseResult& one : folder.results.cases) {
    if (!ran_on_gpu(one)) continue;
    for (const Json& others : of_ranks(one, "gpu_other_processes")) {
      if (others == 0) continue;
      complaints.about(one, others.is_null() ? "it is not known who else was on the GPU"
                                             : "other processes on the GPU: " + others.dump());
    }
  }
}

void check_throttling(const VerifiedFolder& folder, Complaints& complaints) {
  for (const CaseResult& one : folder.results.cases) {
    if (!ran_on_gpu(one)) continue;
    for (const Json& reasons : of_ranks(one, "gpu_throttle_reasons")) {
      const std::string text = "+" + (reasons.is_string() ? reasons.get<std::string>() : "") + "+";
      const auto is_there = [&](std::string_view reason) {
        return text.find("+" + std::string(reason) + "+") != std::string::npos;
      };
      if (!reasons.is_string()) {
        complaints.about(one, "it is not known whether the GPU was slowed");
      } else if (std::ranges::any_of(kThrottling, is_there)) {
        complaints.about(one, "the GPU was slowed: " + reasons.get<std::string>());
      }
    }
  }
}

void check_other_load(const VerifiedFolder& folder, Complaints& complaints) {
  for (const CaseResult& one : folder.results.cases) {
    if (!was_timed(one)) continue;
    const auto load = number_in(one.row, "other_load_percent");
    if (load && *load <= kMostOtherLoadPercent) continue;
    complaints.about(
        one, load ? fmt::format("others kept the cores busy for {:.1f} % of the time; at most {} % "
                                "are allowed",
                                *load, kMostOtherLoadPercent)
                  : "it is not known how busy others kept the cores");
  }
}

}  // namespace headroom
