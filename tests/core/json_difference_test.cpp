// SPDX-License-Identifier: Apache-2.0
#include "src/core/json_difference.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonDifference, OfEqualDocumentsIsNoneWhateverTheirOrder) {
  EXPECT_TRUE(differences(Json::parse(R"({"a": 1, "b": {"c": [1, {"d": 2, "e": 3}]}})"),
                          Json::parse(R"({"b": {"c": [1, {"e": 3, "d": 2}]}, "a": 1})"))
                  .empty());
}

TEST(JsonDifference, SaysWhereAndWhat) {
  const auto list = differences(Json::parse(R"({"a": {"b": 1, "old": null}, "list": [1]})"),
                                Json::parse(R"({"a": {"b": 2}, "list": [1, 2], "new": "x"})"));
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].text(), "a.b was 1 and is 2");
  EXPECT_TRUE(list[0].is_in_both);
  EXPECT_EQ(list[1].text(), "a.old was missing and is missing");
  EXPECT_FALSE(list[1].is_in_both);
  EXPECT_EQ(list[2].text(), "list was [1] and is [1,2]");
  EXPECT_EQ(list[3].text(), "new was missing and is \"x\"");
}

TEST(JsonDifference, OfWholeDocumentsHasNoPath) {
  const auto list = differences(1, "1");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].text(), "it was 1 and is \"1\"");
}

}  // namespace
}  // namespace headroom
