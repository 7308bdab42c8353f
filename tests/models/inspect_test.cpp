// SPDX-License-Identifier: Apache-2.0
#include "models/inspect.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/table.h"

namespace headroom {
namespace {

TEST(Inspect, TellsWhatAModelIsMadeOf) {
  const auto model =
      find_model("vit_ti_16")
          .make({.name = "vit_ti_16"}, {.image_size = 224}, {at::kMeta, at::kBFloat16});
  const nlohmann::ordered_json result = inspect(*model);
  EXPECT_EQ(result["parameter_count"], 5'526'346);
  EXPECT_EQ(result["parameter_bytes"], 2 * 5'526'346);
  EXPECT_EQ(result["parameters"].size(), 152U);
  EXPECT_EQ(result["parameters"][0].dump(),
            R"({"name":"class_token","shape":[1,1,192],"dtype":"bfloat16","bytes":384})");
  ASSERT_EQ(result["blocks"].size(), 12U);
  const nlohmann::ordered_json& last = result["blocks"][11];
  EXPECT_EQ(last["parameters"].size(), 12U);
  EXPECT_EQ(last["parameters"][0], "encoder.layers.encoder_layer_11.ln_1.weight");
  // 12 D^2 weights and 13 D biases and gains, D = 192.
  EXPECT_EQ(last["parameter_count"], 12 * 192 * 192 + 13 * 192);
  EXPECT_EQ(last["parameter_bytes"], 2 * (12 * 192 * 192 + 13 * 192));
}

}  // namespace
}  // namespace headroom
