// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them.
#include "src/dry_run/small_shares.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "src/dry_run/small_offsets.h"
#include "tests/dry_run/small_tables.h"

namespace headroom::dry_run {
namespace {

const std::string kScatter =
    "_ZN2at6native34_scatter_gather_elementwise_kernelILi128ELi8EZNS0_34_cuda_scatter_fill_"
    "internal_"
    "kernelINS0_10OpaqueTypeILi8EEElEclINS0_12TensorAssignEEEvRNS_14TensorIteratorES4_lllRKT_EUliE_"
    "EEviT1_";
const std::string kScatterOfTensor =
    "_ZN2at6native34_scatter_gather_elementwise_kernelILi128ELi8EZNS0_36_cuda_scatter_gather_"
    "internal_kernelILb1ENS0_10OpaqueTypeILi4EEElEclINS0_12TensorAssignEEEvRNS_14TensorIteratorElll"
    "RKT_EUliE_EEviT1_";
const std::string kLargest =
    "_ZN2at6native6sbtopk10gatherTopKIfjLi2ELb0EEEvNS_4cuda6detail10TensorInfoIKT_T0_EES8_S8_bS8_"
    "S8_"
    "NS5_IS6_S8_EES8_NS5_IlS8_EES8_PS6_";
const std::string kHistogram =
    "_ZN2at4cuda17kernelHistogram1DIlllLi1ELi2ELin1ELNS0_23CUDAHistogramMemoryTypeE0EZNS0_21CUDA_"
    "tensor_histogramIllLb0EEEbNS_6TensorES4_S4_lNS_14AccumulateTypeIT0_Lb1EE4typeES8_NS0_"
    "13TensorArgTypeES9_S9_EUllE0_EEv";
const std::string kConversion =
    "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_"
    "18TensorIteratorBaseEENKUlvE1_clEvENKUlvE9_clEvEUlbE_St5arrayIPcLm2EELi4E";

const char* share_at(std::size_t number) {
  return reinterpret_cast<const char*>(std::uintptr_t{1} << 40U) + number;
}
bool is_of_shares(const void* address) { return address >= share_at(0); }

class SmallShares : public testing::Test {
 protected:
  bool run(const std::string& name, std::vector<void*> arguments) {
    EXPECT_TRUE(is_share(name.c_str()));
    return run_share(name.c_str(), arguments.data(), known_, &is_of_shares);
  }
  /// Of `number` into rows of 8, at so many places.
  bool scatter(int count, std::int64_t rows, std::int64_t number) {
    std::vector<char> functor(Offsets::bytes(2) + 7 * sizeof(std::int64_t));
    const std::array<std::int64_t, 7> captured{reinterpret_cast<std::int64_t>(share_at(0x100)),
                                               kLength,
                                               0,
                                               reinterpret_cast<std::int64_t>(share_at(0x1000)),
                                               1,
                                               rows * kLength,
                                               number};
    std::memcpy(functor.data() + Offsets::bytes(2), captured.data(), sizeof(captured));
    return run(kScatter, {&count, functor.data()});
  }

  static constexpr std::int64_t kLength = 8;
  KnownBytes known_;
};

TEST_F(SmallShares, OnesAreAsManyAsIndices) {
  EXPECT_TRUE(scatter(/*count=*/128, /*rows=*/64, /*number=*/1));
  EXPECT_EQ(known_.share(share_at(0x1000)), 0.25);
  EXPECT_EQ(known_.share(share_at(0x1000 + 64 * kLength * 8 - 1)), 0.25);
  EXPECT_EQ(known_.share(share_at(0x1000 + 64 * kLength * 8)), std::nullopt);
  EXPECT_TRUE(scatter(128, 64, 0));
  EXPECT_EQ(known_.share(share_at(0x1000)), std::nullopt);
  EXPECT_FALSE(scatter(/*count=*/128, /*rows=*/8, 1)) << "more than there is room for";
}

TEST_F(SmallShares, SoTheyAreOfATensorOfOneNumber) {
  constexpr std::size_t kOffsets = 8 * ((Offsets::bytes(3) + 7) / 8);
  std::vector<char> functor(kOffsets + 7 * sizeof(std::int64_t));
  const std::array<std::int64_t, 7> captured{reinterpret_cast<std::int64_t>(share_at(0x100)),
                                             16,
                                             0,
                                             reinterpret_cast<std::int64_t>(share_at(0x1000)),
                                             1,
                                             16,
                                             reinterpret_cast<std::int64_t>(share_at(0x800))};
  std::memcpy(functor.data() + kOffsets, captured.data(), sizeof(captured));
  int count = 2;
  put_table<float>(known_, 0x800, {1, 1});
  EXPECT_TRUE(run(kScatterOfTensor, {&count, functor.data()}));
  EXPECT_EQ(known_.share(share_at(0x1000)), 0.125);
  put_table<float>(known_, 0x800, {1, 2});
  EXPECT_TRUE(run(kScatterOfTensor, {&count, functor.data()}));
  EXPECT_EQ(known_.share(share_at(0x1000)), std::nullopt);
}

TEST_F(SmallShares, TheLargestAreAnywhereInARow) {
  const char* places = share_at(0x2000);
  std::uint32_t length = 8;
  std::uint32_t most = 2;
  std::uint32_t rows = 64;
  std::vector<void*> arguments(9, &length);
  arguments[2] = &most;
  arguments[4] = &rows;
  arguments[8] = &places;
  EXPECT_FALSE(run(kLargest, arguments)) << "the largest are written as well";
  EXPECT_EQ(known_.limit(share_at(0x2000 + 64 * 2 * 8 - 8)), 8);
  EXPECT_EQ(known_.share(share_at(0x2000)), 1 - 1.0 / 8);
  EXPECT_EQ(known_.limit(share_at(0x2000 + 64 * 2 * 8)), std::nullopt);
}

TEST_F(SmallShares, HistogramsAreEvenWhereTheNumbersAreNotKnown) {
  const char* bins = share_at(0x3000);
  std::int64_t count = 3;
  std::int64_t numbers = 11;
  TableInfo from{share_at(0x4000), {11}, {1}, 1};
  std::int64_t least = 0;
  std::vector<void*> arguments{&bins, nullptr, &from, &count, &least, &count, &numbers};
  EXPECT_TRUE(run(kHistogram, arguments));
  Trust trust;
  const auto bytes = known_.find(share_at(0x3000), 24, &trust);
  ASSERT_EQ(bytes.size(), 24U);
  std::array<std::int64_t, 3> found{};
  std::memcpy(found.data(), bytes.data(), sizeof(found));
  EXPECT_EQ(found, (std::array<std::int64_t, 3>{4, 4, 3}));
  EXPECT_TRUE(trust.is_assumed);
  put_table<std::int64_t>(known_, 0x4000, {0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 3});
  EXPECT_TRUE(run(kHistogram, arguments));
  EXPECT_EQ(table_of<std::int64_t>(known_, 0x3000, 3), (std::vector<std::int64_t>{3, 6, 2}))
      << "the largest is in the last";
}

TEST_F(SmallShares, CopiesHaveTheShareOfWhatIsCopied) {
  LiveBlocks blocks;
  blocks.note(share_at(0x8000), 512);
  int count = 512;
  std::array<const char*, 2> data{share_at(0x8000), share_at(0x1000)};
  std::vector<void*> arguments{&count, nullptr, data.data()};
  const SmallLaunch launch{kConversion.c_str(), arguments.data(), 1, 1, 1, blocks};
  EXPECT_FALSE(run_copy_of_share(launch, known_, &is_of_shares)) << "of which nothing is known";
  EXPECT_TRUE(scatter(128, 64, 1));
  EXPECT_TRUE(run_copy_of_share(launch, known_, &is_of_shares));
  EXPECT_EQ(known_.share(share_at(0x8000 + 511)), 0.25);
}

}  // namespace
}  // namespace headroom::dry_run
