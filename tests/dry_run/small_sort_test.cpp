// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them, of rows of floats that lie one behind the other.
#include "src/dry_run/small_sort.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "src/dry_run/small_largest.h"
#include "src/dry_run/small_radix.h"

namespace headroom::dry_run {
namespace {

using Floats = std::vector<float>;
using Longs = std::vector<std::int64_t>;

const std::string kBitonicSort =
    "_ZN2at6native20bitonicSortKVInPlaceILi2ELin1ELi16ELi16EflNS0_4LTOpIfLb1EEEjEEvNS_4cuda6detail1"
    "0TensorInfoIT3_T6_EES8_S8_S8_NS6_IT4_S8_EES8_T5_";
const std::string kRadixSort =
    "_ZN2at6native18radixSortKVInPlaceILin2ELin1ELi16ELi2EfljEEvNS_4cuda6detail10TensorInfoIT3_T5_E"
    "ES6_S6_S6_NS4_IT4_S6_EES6_b";
const std::string kMergeSort =
    "_ZN2at6native22warpMergeSortKVInPlaceILin2ELin1ELi128ELi16EflNS0_4GTOpIfLb1EEEjLi32EEEvNS_4cud"
    "a6detail10TensorInfoIT3_T6_EES8_S8_S8_NS6_IT4_S8_EES8_T5_S7_";
const std::string kTopK =
    "_ZN2at6native6sbtopk10gatherTopKIfjLi1ELb0EEEvNS_4cuda6detail10TensorInfoIKT_T0_EES8_S8_bS8_S8"
    "_NS5_IS6_S8_EES8_NS5_IlS8_EES8_PS6_";
const std::string kSortOfPairs =
    "_ZN14at_cuda_detail3cub6detail10radix_sort31DeviceRadixSortSingleTileKernelINS1_"
    "5radix10policy_"
    "hubIlN2at4cuda3cub6detail10OpaqueTypeILi8EEEyE10Policy1000ELNS0_9SortOrderE0ElSB_yNS1_21identi"
    "ty_decomposer_tEEEvPKT1_PSG_PKT2_PSK_T3_iiT4_";

const std::string kSortOfKeys =
    "_ZN14at_cuda_detail3cub6detail10radix_sort31DeviceRadixSortSingleTileKernelINS1_"
    "5radix10policy_"
    "hubIfNS0_8NullTypeEyE10Policy1000ELNS0_9SortOrderE0EfS6_yNS1_21identity_decomposer_tEEEvPKT1_P"
    "SB_PKT2_PSF_T3_iiT4_";

const char* sorted_at(std::size_t number) {
  return reinterpret_cast<const char*>(std::uintptr_t{1} << 40U) + number;
}
bool is_of_sorted(const void* address) { return address >= sorted_at(0); }

struct RowsInfo {
  const char* data;
  std::array<std::uint32_t, 25> sizes;
  std::array<std::uint32_t, 25> strides;
  int dimensions;
};

struct SmallSortTest : testing::Test {
  void set(const Floats& keys) {
    known.set(sorted_at(0x1000), keys.data(), keys.size() * sizeof(float));
  }
  /// Of rows of so many, with the places as they are before.
  bool sort(const std::string& name, std::uint32_t rows, std::uint32_t length,
            bool is_descending = false) {
    Longs places;
    for (std::uint32_t i = 0; i < rows * length; ++i) places.push_back(i % length);
    known.set(sorted_at(0x2000), places.data(), places.size() * 8);
    RowsInfo keys{sorted_at(0x1000), {rows, 1}, {length, 1}, 2};
    RowsInfo values{sorted_at(0x2000), {rows, 1}, {length, 1}, 2};
    std::uint32_t step = 1;
    void* arguments[] = {&keys, &rows, &length, &step, &values, &step, &is_descending};
    return is_sort_in_place(name.c_str()) &&
           run_sort_in_place(name.c_str(), arguments, known, &is_of_sorted);
  }
  Floats keys(std::size_t count, std::size_t at = 0x1000) const {
    const auto bytes = known.find(sorted_at(at), count * sizeof(float));
    Floats found(bytes.size() / sizeof(float));
    std::memcpy(found.data(), bytes.data(), bytes.size());
    return found;
  }
  Longs places(std::size_t count, std::size_t at = 0x2000) const {
    const auto bytes = known.find(sorted_at(at), count * 8);
    Longs found(bytes.size() / 8);
    std::memcpy(found.data(), bytes.data(), bytes.size());
    return found;
  }

  KnownBytes known;
};

TEST_F(SmallSortTest, SortsRows) {
  set({3, 1, 2, -1, 5, 0});
  EXPECT_TRUE(sort(kBitonicSort, 2, 3));
  EXPECT_EQ(keys(6), Floats({1, 2, 3, -1, 0, 5}));
  EXPECT_EQ(places(6), Longs({1, 2, 0, 0, 2, 1}));
  EXPECT_FALSE(sort(kBitonicSort, 1, 33));  // longer than the kernel takes
}

TEST_F(SmallSortTest, KeepsTheOrderOfWhatIsTheSame) {
  set({3, 1, 3, 1, 2});
  EXPECT_TRUE(sort(kRadixSort, 1, 5, /*is_descending=*/true));
  EXPECT_EQ(places(5), Longs({0, 2, 4, 1, 3}));
  set({3, 1, 3, 1, 2});
  EXPECT_TRUE(sort(kMergeSort, 1, 5));
  EXPECT_EQ(places(5), Longs({0, 2, 4, 1, 3}));
  set({3, 1, 3, 1, 2});
  EXPECT_TRUE(sort(kRadixSort, 1, 5));
  EXPECT_EQ(places(5), Longs({1, 3, 4, 0, 2}));
}

TEST_F(SmallSortTest, PutsWhatIsNoNumberLast) {
  set({std::numeric_limits<float>::quiet_NaN(), 7, -2});
  EXPECT_TRUE(sort(kBitonicSort, 1, 3));
  EXPECT_EQ(places(3), Longs({2, 1, 0}));
  EXPECT_TRUE(std::isnan(keys(3)[2]));
}

TEST_F(SmallSortTest, OfWhatIsNotKnownAssumesTheOrder) {
  set({3, 1, 2});
  EXPECT_TRUE(sort(kBitonicSort, 2, 3));
  EXPECT_EQ(places(6), Longs({1, 2, 0, 0, 1, 2}));
  EXPECT_TRUE(known.find(sorted_at(0x1000 + 12), 12).empty());
  Longs read(6);
  EXPECT_FALSE(known.read(read.data(), sorted_at(0x2000), 48));
}

TEST_F(SmallSortTest, FindsTheLargest) {
  set({3, 9, 5, 9, 4});
  RowsInfo from{sorted_at(0x1000), {1}, {1}, 1};
  RowsInfo largest{sorted_at(0x3000), {1}, {1}, 1};
  RowsInfo where{sorted_at(0x4000), {1}, {1}, 1};
  std::uint32_t length = 5;
  std::uint32_t count = 3;
  std::uint32_t one = 1;
  bool is_of_largest = true;
  void* arguments[] = {&from, &length,  &count, &is_of_largest, &one,
                       &one,  &largest, &one,   &where,         &one};
  ASSERT_TRUE(is_largest(kTopK.c_str()));
  EXPECT_TRUE(run_largest(kTopK.c_str(), arguments, known, &is_of_sorted));
  EXPECT_EQ(keys(3, 0x3000), Floats({9, 9, 5}));
  EXPECT_EQ(places(3, 0x4000), Longs({1, 3, 2}));
  // Of what may be added to the places are numbers below the length.
  set({0, 0, 0, 0, 0});
  known.doubt_all();
  EXPECT_FALSE(run_largest(kTopK.c_str(), arguments, known, &is_of_sorted));
  EXPECT_EQ(known.limit(sorted_at(0x4000)), 5);
  set({3, 9, 5, 9, 4});
  EXPECT_TRUE(run_largest(kTopK.c_str(), arguments, known, &is_of_sorted));
  EXPECT_FALSE(known.limit(sorted_at(0x4000)));
  known.forget(sorted_at(0x1000), 4);
  EXPECT_FALSE(run_largest(kTopK.c_str(), arguments, known, &is_of_sorted));
  EXPECT_EQ(known.limit(sorted_at(0x4000)), 5);
}

TEST_F(SmallSortTest, SortsPairsBySomeBits) {
  const Longs numbers{0x12, 0x01, 0x22, 0x11};
  const Longs of_each{0, 1, 2, 3};
  known.set(sorted_at(0x1000), numbers.data(), 32);
  known.set(sorted_at(0x2000), of_each.data(), 32);
  std::array pointers{sorted_at(0x1000), sorted_at(0x5000), sorted_at(0x2000), sorted_at(0x6000)};
  std::uint64_t count = 4;
  int first = 0;
  int last = 4;
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3],
                       &count,       &first,       &last};
  ASSERT_TRUE(is_radix_sort(kSortOfPairs.c_str()));
  EXPECT_TRUE(run_radix_sort(kSortOfPairs.c_str(), arguments, known, &is_of_sorted));
  EXPECT_EQ(places(4, 0x5000), Longs({0x01, 0x11, 0x12, 0x22}));
  EXPECT_EQ(places(4, 0x6000), Longs({1, 3, 0, 2}));
}

TEST_F(SmallSortTest, SortsKeysAlone) {
  set({3, std::numeric_limits<float>::quiet_NaN(), -1, 2});
  std::array<const char*, 3> pointers{sorted_at(0x1000), sorted_at(0x5000), nullptr};
  std::uint64_t count = 4;
  int first = 0;
  int last = 32;
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[2],
                       &count,       &first,       &last};
  ASSERT_TRUE(is_radix_sort(kSortOfKeys.c_str()));
  EXPECT_TRUE(run_radix_sort(kSortOfKeys.c_str(), arguments, known, &is_of_sorted));
  const Floats sorted = keys(4, 0x5000);
  ASSERT_EQ(sorted.size(), 4U);
  EXPECT_EQ(Floats({sorted[0], sorted[1], sorted[2]}), Floats({-1, 2, 3}));
  EXPECT_TRUE(std::isnan(sorted[3]));
}

}  // namespace
}  // namespace headroom::dry_run
