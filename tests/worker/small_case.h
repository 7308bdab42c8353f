// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace headroom {

using Json = nlohmann::ordered_json;

/// vit_ti_16 on digits of 32 pixels, as the runner would send it.
inline Json small_case() {
  return {{"name", "small"},
          {"model", {{"name", "vit_ti_16"}, {"num_classes", 10}}},
          {"data", {{"name", "digits"}, {"image_size", 32}}},
          {"train",
           {{"batch_size", 4},
            {"steps", 2},
            {"warmup_steps", 1},
            {"held_out_samples", 16},
            {"optimizer", {{"name", "adam"}, {"lr", 1e-3}}}}},
          {"limits", Json::object()},
          {"techniques", Json::array()}};
}

}  // namespace headroom
