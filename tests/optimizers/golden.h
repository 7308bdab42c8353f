// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace headroom {

using Json = nlohmann::ordered_json;

/// What a script of tests/golden made.
inline Json golden_values(const std::string& file) {
  return Json::parse(std::ifstream(HEADROOM_SOURCE_DIR "/tests/golden/" + file));
}

}  // namespace headroom
