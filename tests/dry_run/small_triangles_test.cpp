// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them.
#include "src/dry_run/small_triangles.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/dry_run/small_tables.h"

namespace headroom::dry_run {
namespace {

using Floats = std::vector<float>;
using Numbers = std::vector<std::int64_t>;

std::string keep(const std::string& type, bool upper) {
  return "_ZN2at6native16triu_tril_kernelI" + type + "lLb" + (upper ? "1" : "0") +
         "ELi4ELb0EEEvNS_4cuda6detail10TensorInfoIT_T0_EENS4_IKS5_S6_EEllS6_";
}
const std::string kPlacesBelow = "_ZN2at6native19tril_indices_kernelIlEEvPT_lllll";
const std::string kPlacesAbove = "_ZN2at6native19triu_indices_kernelIlEEvPT_lllll";

class SmallTriangles : public testing::Test {
 protected:
  bool run(const std::string& name, std::vector<void*> arguments) {
    EXPECT_TRUE(is_triangle(name.c_str()));
    return run_triangle(name.c_str(), arguments.data(), blocks, known, &is_table);
  }
  /// Of 2 x 3 floats, transposed; to rows that are so far apart.
  bool run_keep(bool upper, std::int64_t diagonal, std::int64_t row = 3) {
    TableInfo to{table(0x2000), {2, 3}, {row, 1}, 2};
    TableInfo from{table(0x1000), {2, 3}, {1, 2}, 2};
    return run(keep("f", upper), {&to, &from, &diagonal});
  }
  /// Rows and columns.
  Numbers places(const std::string& name, std::array<std::int64_t, 5> numbers) {
    const char* to = table(0x3000);
    EXPECT_TRUE(
        run(name, {&to, numbers.data(), &numbers[1], &numbers[2], &numbers[3], &numbers[4]}));
    return table_of<std::int64_t>(known, 0x3000, 2 * static_cast<std::size_t>(numbers[4]));
  }

  KnownBytes known;
  LiveBlocks blocks;
};

TEST_F(SmallTriangles, KeepWhatLiesOnTheirSide) {
  put_table<float>(known, 0x1000, {1, 4, 2, 5, 3, 6});
  EXPECT_TRUE(run_keep(/*upper=*/true, 1));
  EXPECT_EQ(table_of<float>(known, 0x2000, 6), (Floats{0, 2, 3, 0, 0, 6}));
  EXPECT_TRUE(run_keep(/*upper=*/false, 0));
  EXPECT_EQ(table_of<float>(known, 0x2000, 6), (Floats{1, 0, 0, 4, 5, 0}));
}

TEST_F(SmallTriangles, AreForgottenAsFarAsTheyReach) {
  known.fill(table(0x2000), 1, 100);
  EXPECT_TRUE(run_keep(/*upper=*/true, 0, /*row=*/10));
  EXPECT_TRUE(known.find(table(0x2000), 13 * sizeof(float)).empty());
  EXPECT_EQ(known.find(table(0x2000) + 13 * sizeof(float), 1), std::vector<unsigned char>{1});
  EXPECT_TRUE(run_keep(/*upper=*/true, 0));
  EXPECT_TRUE(table_of<float>(known, 0x2000, 6).empty()) << "of what is not known";
  TableInfo elsewhere{nullptr, {2, 3}, {3, 1}, 2};
  EXPECT_FALSE(run(keep("f", true), {&elsewhere})) << "it is not the device's";
}

TEST_F(SmallTriangles, ListTheirPlaces) {
  // Rows from the second on, which begins with one element; of three columns.
  EXPECT_EQ(places(kPlacesBelow, {1, 1, 3, 6, 9}),
            (Numbers{1, 2, 2, 3, 3, 3, 4, 4, 4, 0, 0, 1, 0, 1, 2, 0, 1, 2}));
  // A whole row, then shorter ones.
  EXPECT_EQ(places(kPlacesAbove, {0, 3, 3, 3, 8}),
            (Numbers{0, 0, 0, 1, 1, 1, 2, 2, 0, 1, 2, 0, 1, 2, 1, 2}));
}

}  // namespace
}  // namespace headroom::dry_run
