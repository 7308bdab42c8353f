// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "models/model.h"
#include "models/table.h"

namespace headroom {

/// DistilBERT with a classifier, uncased vocabulary. Source: transformers'
/// DistilBertForSequenceClassification, its names, initial values and operations; Sanh et al. 2019,
/// arXiv:1910.01108. `dropout` stands for dropout, attention_dropout and seq_classif_dropout.
/// Backward of one batch must end before the next batch's forward: the blocks share its mask.
/// Throws ConfigError for more than 512 tokens.
std::unique_ptr<Model> make_distilbert(const ModelOptions& options, const InputShape& shape,
                                       ParameterFactory parameters);

}  // namespace headroom
