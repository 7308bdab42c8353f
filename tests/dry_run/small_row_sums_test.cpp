// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.15 makes them, of rows of two floats.
#include "src/dry_run/small_row_sums.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace headroom::dry_run {
namespace {

using Rows = std::vector<float>;

// As all GPUs have it, with lengths in bytes, and as those since Hopper do, with lengths in
// elements.
const char* const kAddRows =
    "_ZN2at6native25vectorized_scatter_kernelINS0_12ScatterAddOpELi16EflEEvPT1_PKS3_PKT2_illllii";
const char* const kAddRowsOfHopper =
    "_ZN2at6native18tma_scatter_kernelINS0_12ScatterAddOpEflEEvPT0_PKS3_PKT1_iilllii";

const char* row_at(std::size_t number) {
  return reinterpret_cast<const char*>(std::uintptr_t{1} << 40U) + number;
}
bool is_of_rows(const void* address) { return address >= row_at(0); }

struct SmallRowSumsTest : testing::Test {
  SmallRowSumsTest() {
    const Rows sums{1, 1, 1, 1, 1, 1};
    const Rows rows{10, 11, 20, 21};
    const std::array<std::int64_t, 2> indices{2, 2};
    known.set(row_at(0x1000), sums.data(), sums.size() * sizeof(float));
    known.set(row_at(0x2000), rows.data(), rows.size() * sizeof(float));
    known.set(row_at(0x3000), indices.data(), sizeof(indices));
  }
  template <class Length>
  bool run(const char* name, Length length) {
    std::array pointers{row_at(0x1000), row_at(0x2000), row_at(0x3000)};
    int count = 2;
    std::int64_t rows = 3;
    std::int64_t step = length;
    void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &count,
                         &length,      &rows,        &step,        &step};
    return is_row_sum(name) && run_row_sum(name, arguments, known, &is_of_rows);
  }
  Rows sums() const {
    const auto bytes = known.find(row_at(0x1000), 6 * sizeof(float));
    Rows found(bytes.size() / sizeof(float));
    std::memcpy(found.data(), bytes.data(), bytes.size());
    return found;
  }

  KnownBytes known;
};

TEST_F(SmallRowSumsTest, AddsRowsByTheirLengthInBytes) {
  EXPECT_TRUE(run(kAddRows, std::int64_t{8}));
  EXPECT_EQ(sums(), Rows({1, 1, 1, 1, 31, 33}));
  EXPECT_FALSE(run(kAddRows, std::int64_t{6}));
}

TEST_F(SmallRowSumsTest, AddsRowsByTheirLengthInElements) {
  EXPECT_TRUE(run(kAddRowsOfHopper, 2));
  EXPECT_EQ(sums(), Rows({1, 1, 1, 1, 31, 33}));
  known.forget(row_at(0x3000), 8);
  EXPECT_TRUE(run(kAddRowsOfHopper, 2));
  EXPECT_TRUE(sums().empty());
}

}  // namespace
}  // namespace headroom::dry_run
