// SPDX-License-Identifier: Apache-2.0
#include "src/suite/json_schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/suite/test_catalog.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

Json at(const char* pointer) {
  return suite_json_schema(test_catalog()).at(Json::json_pointer(pointer));
}

TEST(JsonSchema, HasTheKeysOfASuite) {
  const Json schema = suite_json_schema(test_catalog());
  EXPECT_EQ(schema["$schema"], "http://json-schema.org/draft-07/schema#");
  EXPECT_EQ(schema["required"], Json({"suite", "cases"}));
  EXPECT_EQ(schema["additionalProperties"], false);
  std::vector<std::string> keys;
  for (const auto& [key, value] : schema["properties"].items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"suite", "source", "gpu", "memory_only", "defaults",
                                            "groups", "cases", "matrix", "set"}));
  EXPECT_EQ(at("/properties/memory_only"), Json::parse(R"({"type": "boolean", "default": false})"));
  EXPECT_EQ(at("/properties/suite/pattern"), "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$");
}

TEST(JsonSchema, DescribesFieldsOfEveryType) {
  EXPECT_EQ(
      at("/properties/defaults/properties/train/properties/batch_size"),
      Json::parse(R"({"type": "integer", "minimum": 1, "maximum": 4096, "description": "samples",
                            "default": 8})"));
  EXPECT_EQ(at("/properties/defaults/properties/train/properties/seed"),
            Json::parse(R"({"type": "integer", "description": "seed", "default": 1})"));
  EXPECT_EQ(at("/properties/defaults/properties/train/properties/tf32/type"), "boolean");
  EXPECT_EQ(at("/properties/defaults/properties/model/properties/name/enum"),
            Json({"vit", "bert"}));
  EXPECT_EQ(at("/properties/defaults/properties/train/properties/optimizer/properties/momentum/"
               "description"),
            "momentum (only with sgd)");
  EXPECT_EQ(at("/properties/defaults/properties/train/additionalProperties"), false);
  // The name of the model may stand in another layer.
  EXPECT_FALSE(at("/properties/defaults/properties/model").contains("required"));
}

TEST(JsonSchema, DescribesCases) {
  EXPECT_EQ(at("/properties/cases/minItems"), 1);
  EXPECT_EQ(at("/properties/cases/items/required"), Json::parse(R"(["name"])"));
  EXPECT_EQ(at("/properties/cases/items/properties/techniques/items/anyOf/0/enum"),
            Json({"bfloat16", "gradient_accumulation", "mixed_precision", "ddp"}));
  const Json options = at("/properties/cases/items/properties/techniques/items/anyOf/1");
  EXPECT_EQ(options["maxProperties"], 1);
  EXPECT_EQ(options["properties"]["mixed_precision"]["required"], Json::parse(R"(["dtype"])"));
  EXPECT_EQ(options["properties"]["bfloat16"]["properties"], Json::object());
  EXPECT_EQ(at("/properties/cases/items/properties/published/properties"), Json::parse(R"({
        "run_peak_reserved_bytes": {"description": "as published", "type": "integer"},
        "samples_per_second": {"description": "as published", "type": "number"}
      })"));
}

TEST(JsonSchema, DescribesPaths) {
  const Json set = at("/properties/set/properties");
  EXPECT_TRUE(set.contains("train.optimizer.lr"));
  EXPECT_EQ(set["ranks"]["maximum"], 65536);
  EXPECT_EQ(at("/properties/cases/items/properties/ranks"), set["ranks"]);
  EXPECT_EQ(at("/properties/matrix/properties/ranks/items"), set["ranks"]);
  EXPECT_FALSE(set.contains("train.optimizer"));
  EXPECT_EQ(at("/properties/matrix/properties/train.batch_size/items"), set["train.batch_size"]);
  EXPECT_EQ(at("/properties/matrix/properties/train.batch_size/minItems"), 1);
}

}  // namespace
}  // namespace headroom
