// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "models/model.h"

namespace headroom {

/// What a model is made of, from any device (on `meta` a large one costs nothing):
///
///     {"parameter_count": 5526346, "parameter_bytes": 22105384,
///      "parameters": [{"name": "class_token", "shape": [1, 1, 192], "dtype": "float32",
///                      "bytes": 768}, ...],
///      "blocks": [{"parameters": ["encoder.layers.encoder_layer_0.ln_1.weight", ...],
///                  "parameter_count": 444864, "parameter_bytes": 1779456}, ...]}
nlohmann::ordered_json inspect(Model& model);

}  // namespace headroom
