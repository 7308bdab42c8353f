// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them, of a table of two rows and three columns.
#include "src/dry_run/small_reductions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "src/dry_run/parts.h"

namespace headroom::dry_run {
namespace {

using Sums = std::vector<std::int64_t>;

const char* const kSumOfNumbers =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIlNS0_14func_wrapper_tIlZNS0_11sum_functor"
    "IlllEclERNS_14TensorIteratorEEUlllE_EEjlLi4ELi4EEEEEvT1_";
const char* const kAllOfBools =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIbNS0_14func_wrapper_tIbZZZNS0_15and_"
    "kernel_cudaERNS_14TensorIteratorEENKUlvE_clEvENKUlvE10_clEvEUlbbE_EEjbLi4ELi4EEEEEvT1_";

const char* const kMeanOfFloats =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4ELi4EEEEEvT1_";
const char* const kAnyOfFloats =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIbZZZNS0_14or_kernel"
    "_cudaERNS_14TensorIteratorEENKUlvE_clEvENKUlvE5_clEvEUlffE_EEjbLi4ELi4EEEEEvT1_";

const char* table_at(std::size_t number) {
  return reinterpret_cast<const char*>(std::uintptr_t{1} << 40U) + number;
}
bool is_of_table(const void* address) { return address >= table_at(0); }

/// {functor and identity, of two elements or no less than 4 bytes; config, 64; where a result's
/// inputs lie, 404; where results lie, and their first inputs, 504; source, destination}.
struct Operation {
  Operation(int width, std::array<int, 2> inputs_and_step, std::array<int, 2> results_and_step,
            int result_width = 0, bool has_functor = true)
      : begin(has_functor ? std::max<std::size_t>(4, 2 * static_cast<std::size_t>(width))
                          : static_cast<std::size_t>(width)) {
    const auto [inputs, input_step] = inputs_and_step;
    const auto [results, result_step] = results_and_step;
    put(0, {width, inputs, results});
    put(64, {1, inputs});
    put(64 + 4 + 25 * 12, {input_step});
    put(64 + 404, {1, results});
    put(64 + 404 + 4 + 25 * 12, {result_width == 0 ? width : result_width, result_step});
    const std::array pointers{table_at(0x1000), table_at(0x2000)};
    std::memcpy(&bytes[whole_parts(begin + 64 + 404 + 504, 8)], pointers.data(), sizeof(pointers));
  }
  void put(std::size_t at, const std::vector<int>& numbers) {
    std::memcpy(&bytes[begin + at], numbers.data(), numbers.size() * sizeof(int));
  }

  std::size_t begin;
  std::array<char, 1200> bytes{};
};

class SmallReductions : public testing::Test {
 protected:
  bool run(const char* name, const Operation& operation) {
    EXPECT_TRUE(is_reduction(name));
    return run_reduction(name, operation.bytes.data(), known_, &is_of_table);
  }
  Sums sums(std::size_t count) const {
    const auto bytes = known_.find(table_at(0x2000), count * sizeof(std::int64_t));
    Sums found(bytes.size() / sizeof(std::int64_t));
    std::memcpy(found.data(), bytes.data(), bytes.size());
    return found;
  }

  KnownBytes known_;
};

TEST_F(SmallReductions, SumRowsAndColumns) {
  const Sums table{1, 2, 3, 40, 50, 60};
  known_.set(table_at(0x1000), table.data(), table.size() * sizeof(table[0]));
  EXPECT_TRUE(run(kSumOfNumbers, {8, {3, 8}, {2, 24}}));
  EXPECT_EQ(sums(2), (Sums{6, 150}));
  EXPECT_TRUE(run(kSumOfNumbers, {8, {2, 24}, {3, 8}}));
  EXPECT_EQ(sums(3), (Sums{41, 52, 63}));
}

TEST_F(SmallReductions, SumsOfWhatIsNotKnownAreNot) {
  const std::int64_t before = 7;
  known_.set(table_at(0x2008), &before, sizeof(before));
  EXPECT_TRUE(run(kSumOfNumbers, {8, {3, 8}, {2, 24}}));
  EXPECT_TRUE(sums(2).empty());
}

TEST_F(SmallReductions, AllOfEachRowIsTakenToHoldWhereItIsNotKnown) {
  Trust trust;
  const auto found = [&] { return known_.find(table_at(0x2000), 2, &trust); };
  const std::vector<unsigned char> table{1, 1, 1, 1, 0, 1};
  known_.set(table_at(0x1000), table.data(), table.size());
  EXPECT_TRUE(run(kAllOfBools, {1, {3, 1}, {2, 3}}));
  EXPECT_EQ(found(), (std::vector<unsigned char>{1, 0}));
  EXPECT_FALSE(trust.is_assumed);
  known_.forget(table_at(0x1000), table.size());
  EXPECT_TRUE(run(kAllOfBools, {1, {3, 1}, {2, 3}}));
  EXPECT_EQ(found(), (std::vector<unsigned char>{1, 1}));
  EXPECT_TRUE(trust.is_assumed);
}

TEST_F(SmallReductions, FloatsThatWereFilledAreKnownUntilSomethingMayHaveBeenAddedToThem) {
  const std::vector<float> table{1, 2, 6, 0, 0, 0};
  known_.set(table_at(0x1000), table.data(), table.size() * sizeof(float));
  Operation mean{4, {3, 4}, {2, 12}};
  const float factor = 1.0F / 3;
  std::memcpy(mean.bytes.data(), &factor, sizeof(factor));
  EXPECT_TRUE(run(kMeanOfFloats, mean));
  std::array<float, 2> means{};
  EXPECT_TRUE(known_.read(means.data(), table_at(0x2000), sizeof(means)));
  EXPECT_EQ(means, (std::array<float, 2>{3, 0}));
  EXPECT_TRUE(run(kAnyOfFloats, {4, {3, 4}, {2, 12}, /*result_width=*/1}));
  EXPECT_EQ(known_.find(table_at(0x2000), 2), (std::vector<unsigned char>{1, 0}));
  known_.doubt_all();
  EXPECT_TRUE(run(kAnyOfFloats, {4, {3, 4}, {2, 12}, /*result_width=*/1}));
  EXPECT_EQ(known_.find(table_at(0x2000), 2), (std::vector<unsigned char>{1, 0})) << "were sent";
  known_.fill(table_at(0x1000), 0, table.size() * sizeof(float));
  known_.doubt_all();
  EXPECT_TRUE(run(kAnyOfFloats, {4, {3, 4}, {2, 12}, /*result_width=*/1}));
  EXPECT_TRUE(known_.find(table_at(0x2000), 2).empty()) << "were filled";
}

TEST_F(SmallReductions, ProductsAreCompiledLateAndSayTheirTypeByTheirIdentity) {
  const Sums table{1, 2, 3, 4, 5, 6};
  known_.set(table_at(0x1000), table.data(), table.size() * sizeof(table[0]));
  Operation product{8, {3, 8}, {2, 24}, 8, /*has_functor=*/false};
  EXPECT_FALSE(run(kCompiledProduct, product)) << "of doubles, or of something else";
  product.bytes[0] = 1;
  EXPECT_TRUE(run(kCompiledProduct, product));
  EXPECT_EQ(sums(2), (Sums{6, 120}));
}

}  // namespace
}  // namespace headroom::dry_run
