// SPDX-License-Identifier: Apache-2.0
// Rules about memory: sums that come out to the byte, and peaks that include others.
#include <map>

#include "src/core/checked_sum.h"
#include "src/core/peak_entry.h"
#include "src/results/columns.h"
#include "src/results/peak_order.h"
#include "src/verify/rule.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPeak = column::run_peak_allocated_bytes;
constexpr const char* kRounding = "rounding";

/// The parts of the peak by their category: the columns peak_CATEGORY_bytes.
std::map<std::string, std::int64_t> parts_of(const Json& columns) {
  std::map<std::string, std::int64_t> parts;
  for (const auto& [name, value] : columns.items()) {
    const std::string_view category = peak_category_of(name);
    if (category.empty()) continue;
    // What is no integer is an error of its own, and no sum comes out with -1.
    parts[std::string(category)] = value.is_number_integer() ? value.get<std::int64_t>() : -1;
  }
  return parts;
}

/// The bytes of each category in a record's list; nothing where it is no list of PeakEntry, or has
/// more of them than a record lists.
std::optional<std::map<std::string, CheckedSum>> sums_of(const Json& tensors) {
  if (!tensors.is_array() || tensors.size() > kMaxPeakEntries) return std::nullopt;
  std::map<std::string, CheckedSum> sums;
  for (const Json& json : tensors) {
    const auto entry = PeakEntry::from_json(json);
    if (!entry) return std::nullopt;
    sums[entry->category].add(entry->count, entry->bytes);
  }
  return sums;
}

void check_tensors_of(const CaseResult& result, const Json& record, Findings& findings) {
  if (has_too_many_columns(record)) return;
  const Json& tensors = member(record, "peak_tensors");
  auto sums = sums_of(tensors);
  if (!sums) return findings.about(result, "the record has no list of the tensors of the peak");
  if (tensors.size() >= kMaxPeakEntries) return;  // the smallest were left out
  auto parts = parts_of(member(record, "columns"));
  parts.erase(kRounding);
  for (const auto& [category, sum] : *sums) parts.try_emplace(category, 0);
  for (const auto& [category, bytes] : parts) {
    const CheckedSum& sum = (*sums)[category];
    if (sum == bytes) continue;
    findings.about(result, "the tensors of " + category + " at the peak sum to " + sum.text() +
                               " bytes; its part is " + std::to_string(bytes));
  }
}

}  // namespace

void check_parts(const VerifiedFolder& folder, Findings& findings) {
  for (const CaseResult& result : folder.results.cases) {
    if (!has_figures(result) || result.is_of_program()) continue;
    CheckedSum sum;
    for (const auto& [category, bytes] : parts_of(result.row)) sum.add(1, bytes);
    const auto peak = integer_in(result.row, kPeak);
    if (peak && sum == *peak) continue;
    findings.about(result, "the parts of the peak sum to " + sum.text() + " bytes; " +
                               std::string(kPeak) + " is " + member(result.row, kPeak).dump());
  }
}

void check_tensors(const VerifiedFolder& folder, Findings& findings) {
  for (const CaseResult& result : folder.results.cases) {
    if (!has_figures(result) || result.is_of_program()) continue;
    for (const Json& record : records_of(result)) check_tensors_of(result, record, findings);
  }
}

void check_order_of_peaks(const VerifiedFolder& folder, Findings& findings) {
  for (const CaseResult& result : folder.results.cases) {
    for (const auto& [larger, smaller] : kPeakOrder) {
      const auto most = integer_in(result.row, larger);
      const auto part = integer_in(result.row, smaller);
      if (!most || !part || *most >= *part) continue;
      findings.about(result, std::string(smaller) + " is " + std::to_string(*part) + ", and " +
                                 std::string(larger) + " is " + std::to_string(*most));
    }
  }
}

}  // namespace headroom
