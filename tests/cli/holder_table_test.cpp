// SPDX-License-Identifier: Apache-2.0
#include "src/cli/holder_table.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

Json holder(const std::string& kind, int bytes, const std::string& line) {
  return {{"kind", kind}, {"line", line}, {"bytes", bytes}, {"blocks", 2}};
}

TEST(HolderTable, has_a_line_for_each_place) {
  const Json holders{holder("parameters", 700, "train.py:3 main"), holder("backward", 200, "")};
  EXPECT_EQ(format_holders(holders, "rank 1 on GPU 1"),
            "\nwhat holds the peak of 900 bytes, rank 1 on GPU 1\n"
            "kind             held  blocks  allocated at\n"
            "parameters  700 bytes       2  train.py:3 main\n"
            "backward    200 bytes       2\n");
}

TEST(HolderTable, sums_what_is_behind_the_twelfth) {
  Json holders = Json::array();
  for (int i = 0; i < 15; ++i) holders.push_back(holder("forward", 100, "\x1b[2J.py:1 f"));
  const std::string table = format_holders(holders, "");
  EXPECT_NE(table.find("300 bytes       6  3 more places\n"), std::string::npos) << table;
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace headroom
