// SPDX-License-Identifier: Apache-2.0
#include "src/worker/record.h"

#include <nlohmann/json.hpp>

#include "src/core/enum_names.h"
#include "src/core/peak_entry.h"
#include "src/worker/columns.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

struct Verdict {
  std::string status = "ok";
  std::string reason;
};

Verdict judge(const WorkerCase& measured, const Measurement& measurement) {
  const std::int64_t remainder = measurement.run.allocated_bytes - measurement.peak.bytes;
  if (remainder != 0) {
    return {"failed", "the allocator's peak is " + std::to_string(measurement.run.allocated_bytes) +
                          " bytes, the ledger's categories sum to " +
                          std::to_string(measurement.peak.bytes)};
  }
  for (const auto& technique : measured.techniques) {
    const std::string why = technique->why_inactive(measurement.evidence, measured.recipe);
    if (!why.empty()) return {"inactive", why};
  }
  return {};
}

Json block_of(std::int64_t block) { return block == kNoBlock ? Json() : Json(block); }

Json peak_tensors(const PeakReport& peak) {
  Json list = Json::array();
  for (const PeakTensors& alike : peak.tensors) {
    const Position& origin = alike.origin;
    const PeakEntry entry{
        .count = alike.count,
        .bytes = alike.bytes,
        .category = std::string(enum_name(alike.category)),
        .phase = std::string(enum_name(origin.phase)),
        .block = origin.block == kNoBlock ? std::nullopt : std::optional(origin.block),
        .op = std::string(origin.op)};
    list.push_back(entry.to_json());
    if (list.size() == kMaxPeakEntries) break;
  }
  return list;
}

Json step_memory(const std::vector<PlaceMemory>& course) {
  Json list = Json::array();
  for (const PlaceMemory& place : course) {
    list.push_back({enum_name(place.phase), block_of(place.block), place.bytes});
  }
  return list;
}

}  // namespace

Json make_record(const WorkerCase& measured, const Measurement& measurement) {
  const Verdict verdict = judge(measured, measurement);
  return {{"status", verdict.status},
          {"reason", verdict.reason},
          {"columns", worker_columns(measured.recipe, measurement)},
          {"step_time_ns", measurement.step_time_ns},
          {"loss", measurement.losses},
          {"peak_tensors", peak_tensors(measurement.peak)},
          {"step_memory", step_memory(measurement.step_memory)}};
}

Json make_failure(std::string_view status, std::string_view reason) {
  return {{"status", status}, {"reason", reason}};
}

}  // namespace headroom
