// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them.
#include "src/dry_run/small_masked.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "src/dry_run/small_sums_by_index.h"

namespace headroom::dry_run {
namespace {

const char* const kPlacesByMask =
    "_ZN14at_cuda_detail3cub6detail4scan16DeviceScanKernelINS2_10policy_hubIllljN2at4cuda3cub38_GLO"
    "BAL__N__5e798be1_6_cub_cu_8a0ccfeb5SumOpIlEEE10Policy1000EN6thrust45THRUST_300001_SM_750_800_8"
    "60_900_1000_1200_NS18transform_iteratorINS8_11CountMaskOpEPKhNSE_11use_defaultESJ_EEPlNS0_13Sc"
    "anTileStateIlLb1EEESA_NS1_10InputValueIlSL_EEjlLb0ElEEvT0_T1_T2_iT3_T4_T5_";
const char* const kScatterByMask =
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_28launch_masked_scatter_kernelERKNS_10"
    "TensorBaseES4_S4_S4_ENKUlvE_clEvENKUlvE5_clEvEUlfblE_St5arrayIPcLm4EEEEviT0_T1_";
const char* const kSumByIndex =
    "_ZN44_GLOBAL__N__50c743a2_11_Indexing_cu_89862edb37indexing_backward_kernel_small_strideIfEEvP"
    "KlS2_PKT_PS3_llllb";

const char* masked_at(std::size_t number) {
  return reinterpret_cast<const char*>(std::uintptr_t{1} << 40U) + number;
}
bool is_of_masked(const void* address) { return address >= masked_at(0); }

struct SmallMaskedTest : testing::Test {
  void set(std::size_t at, const std::vector<float>& numbers) {
    known.set(masked_at(at), numbers.data(), numbers.size() * sizeof(float));
  }
  std::vector<float> numbers(std::size_t at, std::size_t count) const {
    const auto bytes = known.find(masked_at(at), count * sizeof(float));
    std::vector<float> found(bytes.size() / sizeof(float));
    std::memcpy(found.data(), bytes.data(), bytes.size());
    return found;
  }

  KnownBytes known;
};

TEST_F(SmallMaskedTest, TakesOneAfterTheOther) {
  set(0x1000, {1, 2, 3, 4});
  set(0x4000, {10, 20, 30, 40});
  known.set(masked_at(0x2000), "\0\1\0\1", 4);
  std::array mask{masked_at(0x2000), masked_at(0)};
  const char* places = masked_at(0x3000);
  int count = 4;
  void* scan[] = {&mask, &places, nullptr, nullptr, nullptr, nullptr, &count};
  ASSERT_TRUE(is_masked_scatter(kPlacesByMask));
  EXPECT_TRUE(run_masked_scatter(kPlacesByMask, scan, known, &is_of_masked));
  std::array<std::int64_t, 4> found{};
  EXPECT_TRUE(known.read(found.data(), places, sizeof(found)));
  EXPECT_EQ(found, (std::array<std::int64_t, 4>{0, 0, 1, 1}));

  const char* source = masked_at(0x4000);
  std::array data{masked_at(0x1000), masked_at(0x1000), masked_at(0x2000), places};
  void* scatter[] = {&count, &source, &data};
  ASSERT_TRUE(is_masked_scatter(kScatterByMask));
  EXPECT_TRUE(run_masked_scatter(kScatterByMask, scatter, known, &is_of_masked));
  EXPECT_EQ(numbers(0x1000, 4), std::vector<float>({1, 10, 3, 20}));
  // Of a mask that is not known, nothing is.
  known.forget(masked_at(0x2000), 4);
  EXPECT_TRUE(run_masked_scatter(kScatterByMask, scatter, known, &is_of_masked));
  EXPECT_TRUE(numbers(0x1000, 4).empty());
}

TEST_F(SmallMaskedTest, AddsBySortedIndices) {
  LiveBlocks blocks;
  blocks.note(masked_at(0x1000), 24);
  set(0x1000, {1, 1, 1, 1, 1, 1});
  set(0x2000, {10, 11, 20, 21, 30, 31});
  const std::array<std::int64_t, 3> indices{0, 2, 2};
  const std::array<std::int64_t, 3> order{1, 0, 2};
  known.set(masked_at(0x3000), indices.data(), sizeof(indices));
  known.set(masked_at(0x4000), order.data(), sizeof(order));
  std::array pointers{masked_at(0x3000), masked_at(0x4000), masked_at(0x2000), masked_at(0x1000)};
  std::int64_t count = 3;
  std::int64_t slice = 2;
  std::int64_t step = 0;
  std::int64_t parts = 1;
  bool adds = true;
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3], &count,
                       &slice,       &step,        &parts,       &adds};
  ASSERT_TRUE(is_sum_by_index(kSumByIndex));
  EXPECT_TRUE(run_sum_by_index(kSumByIndex, arguments, blocks, known, &is_of_masked));
  EXPECT_EQ(numbers(0x1000, 6), std::vector<float>({21, 22, 1, 1, 41, 43}));
  known.forget(masked_at(0x3000), 8);
  EXPECT_TRUE(run_sum_by_index(kSumByIndex, arguments, blocks, known, &is_of_masked));
  EXPECT_TRUE(numbers(0x1000, 6).empty());
}

}  // namespace
}  // namespace headroom::dry_run
