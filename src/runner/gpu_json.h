// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "src/gpus/gpu.h"

namespace headroom {

/// The GPU's figures by their names (src/gpus/gpu_figures.h): whole numbers and rates.
nlohmann::ordered_json figures_of(const dry_run::Gpu& gpu);

}  // namespace headroom
