// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace headroom {

using Json = nlohmann::ordered_json;

/// What a script of tests/golden made.
inline Json golden_values(const std::string& file) {
  return Json::parse(std::ifstream(HEADROOM_SOURCE_DIR "/tests/golden/" + file));
}

inline at::Tensor floats(const Json& values) {
  return at::tensor(values.get<std::vector<double>>(), at::kDouble).to(at::kFloat);
}

/// What the scripts call `numbers`, float32. `shape`: a list.
inline at::Tensor golden_numbers(const Json& shape, int seed) {
  const auto sizes = shape.get<std::vector<std::int64_t>>();
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<double>((i * 37 + seed * 101) % 199 - 99) / 64.0);
  }
  return at::tensor(values, at::kDouble).reshape(sizes).to(at::kFloat);
}

}  // namespace headroom
