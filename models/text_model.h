// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/table.h"

// What the text models share: absolute positions, and BERT's uncased vocabulary.
namespace headroom {

inline constexpr std::int64_t kVocabulary = 30522;
inline constexpr std::int64_t kPositions = 512;
inline constexpr std::int64_t kPaddingToken = 0;
inline constexpr double kTextEpsilon = 1e-12;  // of all layer normalisations

/// Throws ConfigError where a model of so many positions has none for some token.
void check_positions(const ModelOptions& options, const InputShape& shape,
                     std::int64_t positions = kPositions);

/// (1, T): 0, 1, ... for ids (B, T), on their device.
at::Tensor position_ids(const at::Tensor& ids);

}  // namespace headroom
