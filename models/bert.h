// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "models/model.h"
#include "models/table.h"

namespace headroom {

/// What tells one BERT from another.
struct BertSize {
  std::int64_t width;  // D
  std::int64_t layers;
  std::int64_t heads;         // H
  std::int64_t intermediate;  // I, width of the feed-forward layer

  std::int64_t head_width() const { return width / heads; }
};

inline constexpr BertSize kBertMini{.width = 256, .layers = 4, .heads = 4, .intermediate = 1024};
inline constexpr BertSize kBertBase{.width = 768, .layers = 12, .heads = 12, .intermediate = 3072};
inline constexpr BertSize kBertLarge{
    .width = 1024, .layers = 24, .heads = 16, .intermediate = 4096};

/// BERT with a classifier, uncased vocabulary. Source: transformers'
/// BertForSequenceClassification, its names, initial values and operations; Devlin et al. 2019,
/// arXiv:1810.04805. `dropout` stands for hidden_dropout_prob and attention_probs_dropout_prob.
/// Backward of one batch must end before the next batch's forward: the blocks share its mask.
/// Throws ConfigError for more than 512 tokens.
std::unique_ptr<Model> make_bert(const BertSize& size, const ModelOptions& options,
                                 const InputShape& shape, ParameterFactory parameters);

}  // namespace headroom
