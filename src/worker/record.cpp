// SPDX-License-Identifier: Apache-2.0
#include "src/worker/record.h"

#include <nlohmann/json.hpp>

#include "src/core/enum_names.h"
#include "src/worker/columns.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

struct Verdict {
  std::string status = "ok";
  std::string reason;
};

Verdict judge(const Case& measured, const Measurement& measurement) {
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

Json peak_tensors(const PeakReport& peak) {
  Json list = Json::array();
  for (const PeakTensor& tensor : peak.largest) {
    list.push_back({{"bytes", tensor.bytes},
                    {"category", enum_name(tensor.category)},
                    {"phase", enum_name(tensor.origin.phase)},
                    {"block", tensor.origin.block == kNoBlock ? Json() : Json(tensor.origin.block)},
                    {"operator", tensor.origin.op}});
  }
  return list;
}

}  // namespace

Json make_record(const Case& measured, const Measurement& measurement) {
  const Verdict verdict = judge(measured, measurement);
  Json columns = Json::object();
  for (const Column& column : column_table()) {
    if (column.value == nullptr) continue;
    const Json value = column.value({measured.recipe, measurement});
    if (!value.is_null()) columns[std::string(column.name)] = value;
  }
  return {{"status", verdict.status},   {"reason", verdict.reason},
          {"columns", columns},         {"step_time_ns", measurement.step_time_ns},
          {"loss", measurement.losses}, {"peak_tensors", peak_tensors(measurement.peak)}};
}

Json make_failure(std::string_view status, std::string_view reason) {
  return {{"status", status}, {"reason", reason}};
}

}  // namespace headroom
