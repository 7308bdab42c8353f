// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace headroom {

/// A value that two documents do not have in common.
struct JsonDifference {
  std::string path;  // "train.optimizer.lr"; empty: the documents as a whole
  nlohmann::ordered_json old_value;
  nlohmann::ordered_json new_value;
  bool is_in_both = true;  // else one of the values is null, as its document has no such member

  /// "train.steps was 10 and is 20", "train.steps was 10 and is missing".
  std::string text() const;
};

/// Where two documents differ, in the order of the old one and then of the new one. Objects are
/// compared member by member, in any order; arrays and all else as a whole.
std::vector<JsonDifference> differences(const nlohmann::ordered_json& old_document,
                                        const nlohmann::ordered_json& new_document);

}  // namespace headroom
