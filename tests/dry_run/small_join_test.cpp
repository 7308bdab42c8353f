// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/small_join.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace headroom::dry_run {
namespace {

const char* at_place(std::size_t address) { return reinterpret_cast<const char*>(address); }
bool is_joined_from(const void* address) { return address >= at_place(0x1000); }

const char* const kJoin =
    "_ZN2at6native40_GLOBAL__N__0f1a8107_8_Shape_cu_49f7391c26CatArrayBatchedCopy_contigINS1_10Opaq"
    "ueTypeILj1EEEjLi1ELi128ELi1EEEvPT_NS1_25CatArrInputTensorMetadataIS5_T0_XT2_EXT3_EEENS1_"
    "16Tenso"
    "rSizeStrideIS8_Lj4EEEiS8_";

/// What torch.cat tells of its parts, and of the result.
struct Parts {
  std::array<const char*, 128> from{at_place(0x1000), at_place(0x2000)};
  std::array<unsigned, 128> offset;
  std::array<unsigned, 128> size;
  std::array<unsigned, 128> elements;
  std::array<bool, 128> is_contiguous{};
  std::array<unsigned, 8> of_parts{};  // where they do not lie in a row
  std::array<unsigned, 8> layout{};    // sizes and strides of the result
};

struct SmallJoinTest : testing::Test {
  bool join(const std::string& name, Parts parts, int dimension) {
    const char* to = at_place(0x3000);
    unsigned stride = 1;
    void* arguments[] = {&to, &parts, &parts.layout, &dimension, &stride};
    return is_join(name.c_str()) && run_join(name.c_str(), arguments, 2, known, &is_joined_from);
  }
  std::string joined(std::size_t size) const {
    const auto bytes = known.find(at_place(0x3000), size);
    return {bytes.begin(), bytes.end()};
  }

  KnownBytes known;
};

TEST_F(SmallJoinTest, JoinsWhatIsKnown) {
  known.set(at_place(0x1000), "abc", 3);
  known.set(at_place(0x2000), "de", 2);
  EXPECT_TRUE(join(
      kJoin, {.offset = {0, 3}, .size = {3, 2}, .elements = {3, 2}, .layout = {5, 0, 0, 0, 1}}, 0));
  EXPECT_EQ(joined(5), "abcde");
}

TEST_F(SmallJoinTest, KnowsTheShareOfAllWhereItKnowsEachOnes) {
  const Parts parts{
      .offset = {0, 3}, .size = {3, 1}, .elements = {3, 1}, .layout = {4, 0, 0, 0, 1}};
  known.set_share(at_place(0x1000), 3, 1);
  EXPECT_TRUE(join(kJoin, parts, 0));
  EXPECT_FALSE(known.share(at_place(0x3000)));
  known.set_share(at_place(0x2000), 1, 0);
  EXPECT_TRUE(join(kJoin, parts, 0));
  EXPECT_EQ(known.share(at_place(0x3000)), 0.75);
}

// Two rows of three, and two of one.
TEST_F(SmallJoinTest, JoinsRows) {
  std::string name = kJoin;
  name.replace(name.find("jLi1"), 4, "jLi2");
  known.set(at_place(0x1000), "abcefg", 6);
  known.set(at_place(0x2000), "dh", 2);
  Parts parts{.offset = {0, 3}, .size = {3, 1}, .elements = {6, 2}, .layout = {2, 4, 0, 0, 4, 1}};
  EXPECT_TRUE(join(name, parts, 1));
  EXPECT_EQ(joined(8), "abcdefgh");
  // Of more rows than are looked at, nothing is known.
  parts.elements = {6000, 2000};
  parts.layout[0] = 2000;
  EXPECT_TRUE(join(name, parts, 1));
  EXPECT_EQ(joined(8), "");
  parts.from[1] = at_place(0x10);
  EXPECT_FALSE(join(name, parts, 1));
}

}  // namespace
}  // namespace headroom::dry_run
