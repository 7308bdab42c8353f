// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/model.h"
#include "models/table.h"

// The C++ side of tests/golden/make_golden.py, which explains the values.
namespace headroom {

/// tests/golden/models.json.
const nlohmann::json& golden();

/// The size of an entry's model: that of its name, but where the entry says another.
ModelSize golden_size(const nlohmann::json& entry);

/// The model of a "structures" or "parity" entry, in training mode.
struct GoldenModel {
  std::string attention = "eager";
  at::Device device = at::kCPU;
  at::ScalarType dtype = at::kFloat;
};
std::unique_ptr<Model> make_golden_model(const nlohmann::json& entry, const GoldenModel& wanted);

/// The weights, and the inputs and labels, that the script gave the model of a "parity" entry.
void fill_by_hash(Model& model);
Batch make_golden_batch(const nlohmann::json& entry);

/// [norm, four entries that lie evenly in the flat tensor], as the scripts take them; zeros of
/// one that is undefined.
std::array<double, 5> fingerprint(const at::Tensor& tensor);

/// The logits that a "parity" entry holds, a row for each sample or token: of a vocabulary, some.
at::Tensor golden_logits(const at::Tensor& logits);

}  // namespace headroom
