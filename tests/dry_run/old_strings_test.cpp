// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/old_strings.h"

#include <gtest/gtest.h>

#include <string>

extern "C" void* old_text_function();

namespace headroom::dry_run {
namespace {

TEST(OldStrings, GiveTheirText) {
  std::string text;
  const auto take = [](void* to, const char* given) { *static_cast<std::string*>(to) = given; };
  take_old_string(old_text_function(), take, &text);
  EXPECT_EQ(text, "a text that is too long to stand in a string itself");
}

}  // namespace
}  // namespace headroom::dry_run
