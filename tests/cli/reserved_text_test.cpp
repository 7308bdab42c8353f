// SPDX-License-Identifier: Apache-2.0
#include "src/cli/reserved_text.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

Json peak() {
  return {
      {"reserved_bytes", 900},
      {"allocated_bytes", 600},
      {"waiting_bytes", 100},
      {"free",
       {{{"pool", "large"}, {"stream", 0}, {"bytes", 200}, {"pieces", 2}, {"largest_bytes", 150}}}},
      {"asked_bytes", 300},
      {"asked_at", "train.py:3 main"},
      {"passed_over_bytes", 0},
      {"passed_over_pieces", 0},
      {"too_small_bytes", 200},
      {"too_small_pieces", 2},
      {"too_small_largest_bytes", 150},
      {"neighbours", {{{"line", "\x1b[2J.py:1 f"}, {"bytes", 50}, {"blocks", 1}}}}};
}

TEST(ReservedText, says_what_is_free_and_for_what_it_was_too_small) {
  const std::string text = format_reserved(peak(), "rank 1 on GPU 1");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_TRUE(text.starts_with(
      "\nat the peak of 900 bytes reserved, rank 1 on GPU 1, 600 bytes are allocated, 100 bytes "
      "wait for work of other streams, and the rest is free\n"
      "pool   stream       free  pieces    largest\n"
      "large       0  200 bytes       2  150 bytes\n"
      "it grew for 300 bytes at train.py:3 main: no free piece was as large\n"
      "too small were 2 pieces, 200 bytes, the largest 150 bytes\n"
      "beside them lie\n"))
      << text;
}

TEST(ReservedText, says_what_the_allocator_passed_over) {
  Json passed = peak();
  passed["passed_over_bytes"] = 400;
  passed["passed_over_pieces"] = 1;
  passed["too_small_pieces"] = 0;
  const std::string text = format_reserved(passed, "");
  EXPECT_NE(text.find("passed over 1 free pieces that are as large, 400 bytes"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("too small"), std::string::npos);
}

}  // namespace
}  // namespace headroom
