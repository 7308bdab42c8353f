// SPDX-License-Identifier: Apache-2.0
#include "src/results/holders.h"

#include <optional>

#include "src/core/json.h"
#include "src/results/columns.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Nothing: somebody else wrote it.
std::optional<Holder> holder_in(const Json& json) {
  const Json& kind = member(json, "kind");
  const Json& line = member(json, "line");
  if (!kind.is_string() || !line.is_string()) return std::nullopt;
  const std::int64_t bytes = integer_in(json, "bytes").value_or(-1);
  const std::int64_t blocks = integer_in(json, "blocks").value_or(-1);
  if (bytes < 0 || blocks < 0) return std::nullopt;
  return Holder{kind.get<std::string>(), line.get<std::string>(), bytes, blocks};
}

}  // namespace

std::vector<Holder> holders_of(const CaseResult& result) {
  const auto peak = number_in(result.row, column::run_peak_allocated_bytes);
  for (const Json& process : member(result.record, "processes")) {
    const Json& bytes = member(process, "peak_allocated_bytes");
    const bool is_it = peak && bytes.is_number() && bytes.get<double>() == *peak;
    const Json& list = member(process, "holders");
    if (!is_it || !list.is_array()) continue;
    std::vector<Holder> holders;
    for (const Json& json : list) {
      if (auto holder = holder_in(json)) holders.push_back(std::move(*holder));
    }
    return holders;
  }
  return {};
}

}  // namespace headroom
