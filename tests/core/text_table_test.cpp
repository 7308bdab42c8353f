// SPDX-License-Identifier: Apache-2.0
#include "src/core/text_table.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

TEST(Table, aligns_columns_by_characters) {
  EXPECT_EQ(format_table({"name", "size"}, {{"é", "1"}, {"long name", "100000"}}, {"size"}),
            "name         size\n"
            "é               1\n"
            "long name  100000\n");
}

TEST(Table, has_no_spaces_at_line_ends_and_no_control_characters) {
  EXPECT_EQ(format_table({"a", "b"}, {{"x\ty", ""}}), "a       b\nx\\x09y\n");
}

}  // namespace
}  // namespace headroom
