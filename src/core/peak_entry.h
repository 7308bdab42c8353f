// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace headroom {

/// Tensors at the peak that are alike: one entry of a record's `peak_tensors`. The worker writes
/// it, reports and verifications read it.
struct PeakEntry {
  std::int64_t count = 0;
  std::int64_t bytes = 0;             // of each of them
  std::string category;               // as Category spells it
  std::string phase;                  // of the step that made them
  std::optional<std::int64_t> block;  // of the model, from 0; empty: none
  std::string op;                     // the operator; empty: not known

  /// [count, bytes, category, phase, block, op]: without keys, since a large model has a thousand.
  nlohmann::ordered_json to_json() const;
  /// Reads what to_json() wrote; of other versions' entries at least the first three. Nothing where
  /// it is no such list, or says less than nothing.
  static std::optional<PeakEntry> from_json(const nlohmann::ordered_json& json);
};

/// A record lists no more, as it has to fit in a message. The smallest are left out.
inline constexpr std::size_t kMaxPeakEntries = 8192;

}  // namespace headroom
