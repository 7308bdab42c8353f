// SPDX-License-Identifier: Apache-2.0
#include "src/runner/gpu_json.h"

#include <nlohmann/json.hpp>

#include "src/gpus/gpu_figures.h"

namespace headroom {

nlohmann::ordered_json figures_of(const dry_run::Gpu& gpu) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const dry_run::GpuFigure& figure : dry_run::gpu_figures()) {
    const double value = figure.of(gpu);
    json[figure.name] = value;
    if (figure.is_whole) json[figure.name] = static_cast<std::int64_t>(value);
  }
  return json;
}

}  // namespace headroom
