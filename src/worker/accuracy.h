// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/data/dataset.h"
#include "models/model.h"
#include "techniques/recipe.h"

namespace headroom {

/// The share of held-out samples that the model names right, on at most `train.held_out_samples` of
/// them, in micro-batches, without dropout, in the dtype of the weights. Empty where the data set
/// holds none out.
std::optional<double> held_out_accuracy(Model& model, const Dataset& data, const Recipe& recipe);

}  // namespace headroom
