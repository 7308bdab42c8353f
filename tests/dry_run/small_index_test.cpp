// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them, of rows of numbers of 4 bytes.
#include "src/dry_run/small_index.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "src/dry_run/small_scatter.h"
#include "src/dry_run/small_select.h"

namespace headroom::dry_run {
namespace {

using Ints = std::vector<std::int32_t>;
using Longs = std::vector<std::int64_t>;

const char* const kReadByList =
    "_ZN2at6native24index_elementwise_kernelILi128ELi4EZNS0_16gpu_index_kernelIZNS0_17index_kernel_"
    "implINS0_10OpaqueTypeILi4EEEEEvRNS_18TensorIteratorBaseEN3c108ArrayRefIlEESA_EUlPcPKclE_EEvS7_"
    "SA_SA_RKT_bEUliE_EEvlT1_";
const char* const kWriteByList =
    "_ZN2at6native24index_elementwise_kernelILi128ELi4EZNS0_16gpu_index_kernelIZNS0_21index_put_"
    "kernel_implINS0_10OpaqueTypeILi4EEEEEvRNS_14TensorIteratorEN3c108ArrayRefIlEESA_EUlPcPKclE_"
    "EEvRNS_18TensorIteratorBaseESA_SA_RKT_bEUliE_EEvlT1_";
const char* const kFillByList =
    "_ZN2at6native24index_elementwise_kernelILi128ELi4EZNS0_22index_fill_kernel_implINS0_10OpaqueTy"
    "peILi4EEEEEvRNS_14TensorIteratorElllT_EUliE_EEvlT1_";
const char* const kGatherEach =
    "_ZN2at6native34_scatter_gather_elementwise_kernelILi128ELi8EZNS0_36_cuda_scatter_gather_intern"
    "al_kernelILb0ENS0_10OpaqueTypeILi4EEElEclINS0_12TensorAssignEEEvRNS_14TensorIteratorElllRKT_EU"
    "liE_EEviT1_";
const char* const kAddEach =
    "_ZN2at6native34_scatter_gather_elementwise_kernelILi128ELi8EZNS0_36_cuda_scatter_gather_intern"
    "al_kernelILb1EilEclINS0_9ReduceAddEEEvRNS_14TensorIteratorElllRKT_EUliE_EEviT1_";
const char* const kSelectRows = "_ZN2at6native24vectorized_gather_kernelILi16ElEEvPcS2_PT0_illllb";
const char* const kSelectSlices =
    "_ZN2at6native44_GLOBAL__N__50c743a2_11_Indexing_cu_89862edb21indexSelectSmallIndexIiljLi1ELi1E"
    "Lin2EEEvNS_4cuda6detail10TensorInfoIT_T1_EENS5_IKS6_S7_EENS5_IKT0_S7_EEiiS7_l";

const char* indexed_at(std::size_t number) {
  return reinterpret_cast<const char*>(std::uintptr_t{1} << 40U) + number;
}
bool is_of_indexed(const void* address) { return address >= indexed_at(0); }
const char* const kIndexedTo = indexed_at(0x1000);
const char* const kIndexedFrom = indexed_at(0x2000);
const char* const kIndexedBy = indexed_at(0x3000);

/// {how many, where they lie, of tensors with these strides; words behind}.
struct Lambda {
  Lambda(std::uint32_t count, const std::vector<std::uint32_t>& strides,
         const std::vector<std::size_t>& words)
      : bytes(2048) {
    const std::array<std::uint32_t, 2> places{1, count};
    std::memcpy(bytes.data(), places.data(), sizeof(places));
    constexpr std::size_t kStrides = 4 + 25 * 12;
    std::memcpy(&bytes[kStrides], strides.data(), strides.size() * 4);
    const std::size_t end = (kStrides + 25 * 4 * strides.size() + 7) / 8 * 8;
    std::memcpy(&bytes[end], words.data(), words.size() * 8);
  }

  std::vector<char> bytes;
};

std::size_t word(const char* address) { return reinterpret_cast<std::size_t>(address); }

/// {result, input, one tensor of indices[25], its dimension's size[25], stride[25]}.
std::vector<std::size_t> list_of(std::size_t size) {
  std::vector<std::size_t> words(3 + 3 * 25);
  words[0] = word(kIndexedTo);
  words[1] = word(kIndexedFrom);
  words[2] = 1;
  words[3] = word(kIndexedBy);
  words[3 + 25] = size;
  words[3 + 50] = 4;
  return words;
}

struct SmallIndexTest : testing::Test {
  void set(const char* at, const Ints& numbers) {
    known.set(at, numbers.data(), numbers.size() * 4);
  }
  void choose(const Longs& numbers, Trust trust = {}) {
    known.set(kIndexedBy, numbers.data(), numbers.size() * 8, trust);
  }
  /// Of so many elements.
  bool run(const char* name, std::int64_t count, Lambda lambda) {
    void* arguments[] = {&count, lambda.bytes.data()};
    if (is_scatter(name)) return run_scatter(name, arguments, known, &is_of_indexed);
    return is_index(name) && run_index(name, arguments, known, &is_of_indexed);
  }
  Ints numbers(std::size_t count) const {
    const auto bytes = known.find(kIndexedTo, count * 4);
    Ints found(bytes.size() / 4);
    std::memcpy(found.data(), bytes.data(), bytes.size());
    return found;
  }

  KnownBytes known;
};

TEST_F(SmallIndexTest, ReadsByAList) {
  set(kIndexedFrom, {10, 11, 12, 13});
  choose({2, 0, -1});
  EXPECT_TRUE(run(kReadByList, 3, Lambda(3, {4, 0, 8}, list_of(4))));
  EXPECT_EQ(numbers(3), Ints({12, 10, 13}));
  std::int32_t value = 0;
  EXPECT_TRUE(known.read(&value, kIndexedTo, 4));
  // What is chosen by something assumed is assumed.
  choose({1, 1, 1}, kAssumed);
  EXPECT_TRUE(run(kReadByList, 3, Lambda(3, {4, 0, 8}, list_of(4))));
  EXPECT_FALSE(known.read(&value, kIndexedTo, 4));
  EXPECT_EQ(value, 11);
  // There is no such element.
  choose({1, 4, 1});
  EXPECT_TRUE(run(kReadByList, 3, Lambda(3, {4, 0, 8}, list_of(4))));
  EXPECT_TRUE(known.find(kIndexedTo + 4, 4).empty());
  EXPECT_EQ(numbers(1), Ints({11}));
}

TEST_F(SmallIndexTest, KnowsEachElementByItself) {
  set(kIndexedFrom + 8, {12, 13});
  choose({0, 3, 2});
  EXPECT_TRUE(run(kReadByList, 3, Lambda(3, {4, 0, 8}, list_of(4))));
  EXPECT_TRUE(known.find(kIndexedTo, 4).empty());
  std::array<std::int32_t, 2> values{};
  EXPECT_TRUE(known.read(values.data(), kIndexedTo + 4, 8));
  EXPECT_EQ(values, (std::array<std::int32_t, 2>{13, 12}));
}

TEST_F(SmallIndexTest, WritesByAList) {
  set(kIndexedTo, {0, 0, 0, 0, 0});
  set(kIndexedFrom, {7, 8});
  choose({3, 1});
  EXPECT_TRUE(run(kWriteByList, 2, Lambda(2, {0, 4, 8}, list_of(4))));
  EXPECT_EQ(numbers(5), Ints({0, 8, 0, 7, 0}));
  // What is written is not known, but where it is.
  known.forget(kIndexedFrom, 4);
  EXPECT_TRUE(run(kWriteByList, 2, Lambda(2, {0, 4, 8}, list_of(4))));
  EXPECT_TRUE(known.find(kIndexedTo + 12, 4).empty());
  EXPECT_EQ(numbers(3), Ints({0, 8, 0}));
  // Anywhere among the first four.
  known.forget(kIndexedBy, 16);
  EXPECT_TRUE(run(kWriteByList, 2, Lambda(2, {0, 4, 8}, list_of(4))));
  EXPECT_TRUE(known.find(kIndexedTo, 16).empty());
  EXPECT_FALSE(known.find(kIndexedTo + 16, 4).empty());
  auto words = list_of(4);
  words[3] = 0x10;
  EXPECT_FALSE(run(kWriteByList, 2, Lambda(2, {0, 4, 8}, words)));
}

TEST_F(SmallIndexTest, KnowsHowManyAreWrittenIntoZeros) {
  set(kIndexedTo, {0, 0, 0, 0});
  set(kIndexedFrom, {1});
  EXPECT_TRUE(run(kWriteByList, 2, Lambda(2, {0, 0, 8}, list_of(4))));
  EXPECT_EQ(known.share(kIndexedTo), 0.5);
  set(kIndexedTo, {0, 1, 0, 0});
  EXPECT_TRUE(run(kWriteByList, 2, Lambda(2, {0, 0, 8}, list_of(4))));
  EXPECT_FALSE(known.share(kIndexedTo)) << "one of them may be that one";
}

TEST_F(SmallIndexTest, Fills) {
  set(kIndexedTo, {0, 0, 0, 0});
  choose({-1, 0});
  EXPECT_TRUE(
      run(kFillByList, 2, Lambda(2, {0, 8}, {word(kIndexedTo), word(kIndexedBy), 4, 1, 9})));
  EXPECT_EQ(numbers(4), Ints({9, 0, 0, 9}));
}

TEST_F(SmallIndexTest, Gathers) {
  set(kIndexedFrom, {10, 11, 12});
  choose({2, 2, 0});
  const Lambda lambda(3, {4, 0, 8},
                      {word(kIndexedBy), 3, 0, word(kIndexedTo), 1, 3, word(kIndexedFrom)});
  EXPECT_TRUE(run(kGatherEach, 3, lambda));
  EXPECT_EQ(numbers(3), Ints({12, 12, 10}));
}

TEST_F(SmallIndexTest, Adds) {
  set(kIndexedTo, {1, 1, 1});
  set(kIndexedFrom, {10, 20, 30});
  choose({2, 2, 0});
  const Lambda lambda(3, {0, 4, 8},
                      {word(kIndexedBy), 3, 0, word(kIndexedTo), 1, 3, word(kIndexedFrom)});
  EXPECT_TRUE(run(kAddEach, 3, lambda));
  EXPECT_EQ(numbers(3), Ints({31, 1, 31}));
  // Zeros do not stay where something that is not known is added anywhere.
  known.forget(kIndexedBy, 8);
  EXPECT_TRUE(run(kAddEach, 3, lambda));
  EXPECT_TRUE(known.find(kIndexedTo, 12).empty());
}

TEST_F(SmallIndexTest, SelectsRows) {
  set(kIndexedFrom, {10, 11, 20, 21, 30, 31});
  choose({2, 0});
  const char* to = kIndexedTo;
  const char* from = kIndexedFrom;
  const char* indices = kIndexedBy;
  int count = 2;
  std::int64_t row = 8;
  std::int64_t rows = 3;
  bool may_be_below_0 = false;
  void* arguments[] = {&to, &from, &indices, &count, &row, &rows, &row, &row, &may_be_below_0};
  ASSERT_TRUE(is_select(kSelectRows));
  EXPECT_TRUE(run_select(kSelectRows, arguments, known, &is_of_indexed));
  EXPECT_EQ(numbers(4), Ints({30, 31, 10, 11}));
}

TEST_F(SmallIndexTest, SelectsSlices) {
  struct Info {
    const char* data;
    std::array<std::uint32_t, 25> sizes;
    std::array<std::uint32_t, 25> strides;
    int dimensions;
  };
  set(kIndexedFrom, {10, 11, 12, 13});
  choose({3, 0});
  Info to{kIndexedTo, {1}, {1}, 1};
  Info from{kIndexedFrom, {1}, {1}, 1};
  Info indices{kIndexedBy, {2}, {1}, 1};
  int dimension = 0;
  std::uint32_t slice = 1;
  std::int64_t size = 4;
  void* arguments[] = {&to, &from, &indices, &dimension, &dimension, &slice, &size};
  ASSERT_TRUE(is_select(kSelectSlices));
  EXPECT_TRUE(run_select(kSelectSlices, arguments, known, &is_of_indexed));
  EXPECT_EQ(numbers(2), Ints({13, 10}));
  from.dimensions = 26;
  EXPECT_FALSE(run_select(kSelectSlices, arguments, known, &is_of_indexed));
}

}  // namespace
}  // namespace headroom::dry_run
