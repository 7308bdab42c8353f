// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "src/results/row.h"
#include "src/suite/case.h"

// What users reckon with before they have measured or planned: so many bytes for each parameter. It
// stands beside a row's own figures, so that a reader sees what such rules leave out.
namespace headroom {

/// The rule for a row's model_states_bytes: for each parameter 4 bytes of weights (under mixed
/// precision 6, with the 16-bit copy), 4 of gradients, and of state 8 with Adam and AdamW, 2 with
/// 8-bit Adam, 4 with SGD with momentum. Source: Hugging Face transformers, "Model training
/// anatomy".
/// Nothing where the source has no rule (another optimizer, all in 16 bits, several ranks), and
/// where the row has no figure of its own.
std::optional<std::int64_t> rule_model_states_bytes(const Row& row, const Case& one);

/// The rule for a row's driver_peak_bytes: 4 bytes * 4 for each parameter (weights, gradients,
/// Adam's two states), 4 bytes for each number in the activations of all samples, and 2 * 10^9 for
/// the rest. It takes the activations as known: here they are those at the row's own peak. Nothing
/// but for float32, Adam and no technique, on one rank, where activations are at the peak.
std::optional<std::int64_t> rule_driver_peak_bytes(const Row& row);

}  // namespace headroom
