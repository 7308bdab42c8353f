// SPDX-License-Identifier: Apache-2.0
#include "src/cli/program_fit.h"

#include <gtest/gtest.h>

#include "src/core/error.h"

namespace headroom {
namespace {

TEST(Variation, is_a_name_and_its_numbers) {
  const Variation variation = read_variation("BATCH=1..512");
  EXPECT_EQ(variation.name, "BATCH");
  EXPECT_EQ(variation.first, 1);
  EXPECT_EQ(variation.last, 512);
  for (const char* wrong : {"", "BATCH", "BATCH=8", "BATCH=8..", "BATCH=8..4", "BATCH=0..4",
                            "=1..4", "a-b=1..4", "a=1..4000000000", "a=1..2..3", "..=1"}) {
    EXPECT_THROW(read_variation(wrong), ConfigError) << wrong;
  }
}

TEST(Variation, stands_wherever_a_word_names_it) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(with_value({"a", "{N}", "--n={N}x{N}", "{M}"}, "N", "12"),
            (Words{"a", "12", "--n=12x12", "{M}"}));
}

}  // namespace
}  // namespace headroom
