// SPDX-License-Identifier: Apache-2.0
#include "src/core/enum_names.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

enum class Colour { red, dark_green, blue };

TEST(EnumNames, AreThoseOfTheCode) {
  ASSERT_EQ(enum_names<Colour>().size(), 3u);
  EXPECT_EQ(enum_names<Colour>()[1], "dark_green");
  EXPECT_EQ(enum_name(Colour::blue), "blue");
}

}  // namespace
}  // namespace headroom
