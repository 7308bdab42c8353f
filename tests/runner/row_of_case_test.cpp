// SPDX-License-Identifier: Apache-2.0
#include "src/runner/row_of_case.h"

#include <gtest/gtest.h>


namespace headroom {
namespace {

Column figure(const std::string& name) {
  Column column;
  column.name = name;
  column.type = ColumnType::number;
  return column;
}

Row row_with_published(double published) {
  Catalog catalog;
  catalog.columns = {figure("run_peak_reserved_bytes"), figure("run_peak_reserved_error_percent")};
  Case one;
  one.published = {{"run_peak_reserved_bytes", published}};
  return with_published(catalog, {{"run_peak_reserved_bytes", 6e9}}, one);
}

TEST(RowOfCase, has_the_error_in_percent_of_what_was_published) {
  EXPECT_DOUBLE_EQ(*number_in(row_with_published(8e9), "run_peak_reserved_error_percent"), -25);
  EXPECT_DOUBLE_EQ(*number_in(row_with_published(4e9), "run_peak_reserved_error_percent"), 50);
  EXPECT_FALSE(number_in(row_with_published(0), "run_peak_reserved_error_percent"));
}

}  // namespace
}  // namespace headroom
