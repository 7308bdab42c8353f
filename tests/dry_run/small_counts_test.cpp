// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them.
#include "src/dry_run/small_counts.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace headroom::dry_run {
namespace {

using Indices = std::vector<std::int64_t>;

const std::string kOfBools =
    "N6thrust45THRUST_300001_SM_750_800_860_900_1000_1200_NS18transform_iteratorIN2at6native43_"
    "GLOBAL__N__e625f313_10_Nonzero_cu_cba1aaa09NonZeroOpIbEEPKbNSD_11use_defaultESM_EE";
const std::string kReduce = "_ZN14at_cuda_detail3cub6detail6reduce";
const std::string kPolicy = "KernelINS2_10policy_hubIiyN4cuda3std3__44plusIvEEE10Policy1000E";
const std::string kOneBlock = kReduce + "28DeviceReduceSingleTile" + kPolicy + kOfBools +
                              "PiyS9_iiNS7_10__identityEEEvT0_T1_T2_T3_T4_T6_";
const std::string kBlocks = kReduce + "18DeviceReduce" + kPolicy + kOfBools +
                            "yS9_iNS7_10__identityEEEvT0_PT3_T1_NS0_13GridEvenShareISS_EET2_T4_";
const std::string kSumOfBlocks = kReduce + "28DeviceReduceSingleTile" + kPolicy +
                                 "PiSC_iS9_iiNS7_10__identityEEEvT0_T1_T2_T3_T4_T6_";
const std::string kPlaces =
    "_ZN14at_cuda_detail3cub6detail6select23DeviceSelectSweepKernelINS2_10policy_hubIlbiLb0ELNS0_"
    "10SelectImplE0EE10Policy1000EN6thrust17counting_iteratorIlNS9_11use_defaultESB_SB_EE" +
    kOfBools +
    "PlPiNS0_13ScanTileStateIiLb1EEENS0_8NullTypeESQ_iNS2_19streaming_context_tIlLb1EEELS5_0EEEvT0_"
    "T1_T2_T3_T4_T5_T6_T7_iT8_NS1_7vsmem_tE";
const std::string kIndices = "_ZN2at6native13write_indicesIiEEvPlNS0_10TensorDimsIT_EEiS3_ll";

const char* mask_at(std::size_t number) {
  return reinterpret_cast<const char*>(std::uintptr_t{1} << 40U) + number;
}
bool is_of_masks(const void* address) { return address >= mask_at(0); }

/// A range of bools: {the first, functor}.
struct MaskRange {
  const char* first = mask_at(0x1000);
  std::int64_t functor = 0;
};

class SmallCounts : public testing::Test {
 protected:
  void set_mask(const std::vector<unsigned char>& mask) {
    known_.set(mask_at(0x1000), mask.data(), mask.size());
  }
  bool run(const std::string& name, std::vector<void*> arguments, unsigned blocks = 1) {
    EXPECT_TRUE(is_count(name.c_str()));
    return run_count(name.c_str(), arguments.data(), blocks, known_, &is_of_masks);
  }
  bool run_one_block(int elements) {
    MaskRange range;
    const char* to = mask_at(0x2000);
    return run(kOneBlock, {&range, &to, &elements});
  }
  bool run_places(int elements) {
    std::int64_t from = 0;
    MaskRange range;
    const char* to = mask_at(0x3000);
    const char* count = mask_at(0x2000);
    return run(kPlaces, {&from, &range, &to, &count, nullptr, nullptr, nullptr, &elements});
  }
  template <class T>
  std::vector<T> found(std::size_t at, std::size_t count, Trust* trust = nullptr) const {
    const auto bytes = known_.find(mask_at(at), count * sizeof(T), trust);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  int count(Trust* trust = nullptr) const {
    const auto found_count = found<std::int32_t>(0x2000, 1, trust);
    return found_count.empty() ? -1 : found_count[0];
  }

  KnownBytes known_;
};

TEST_F(SmallCounts, OfAMaskThatIsKnown) {
  set_mask({1, 0, 0, 1, 1});
  Trust trust;
  EXPECT_TRUE(run_one_block(5));
  EXPECT_EQ(count(&trust), 3);
  EXPECT_TRUE(run_places(5));
  EXPECT_EQ(found<std::int64_t>(0x3000, 3, &trust), (Indices{0, 3, 4}));
  EXPECT_FALSE(trust.is_assumed);
}

TEST_F(SmallCounts, OfAMaskThatIsNotAreAllOfIt) {
  Trust trust;
  EXPECT_TRUE(run_one_block(5));
  EXPECT_EQ(count(&trust), 5);
  EXPECT_TRUE(trust.is_assumed);
  const std::int64_t before = 7;
  known_.set(mask_at(0x3000), &before, sizeof(before));
  EXPECT_TRUE(run_places(5));
  EXPECT_EQ(found<std::int64_t>(0x3000, 5), (Indices{0, 1, 2, 3, 4}));
}

TEST_F(SmallCounts, OfAMaskThatIsNotInPartAreThatPartToo) {
  set_mask({1, 0, 0, 0, 1});
  known_.forget(mask_at(0x1002), 1);
  Trust trust;
  EXPECT_TRUE(run_one_block(5));
  EXPECT_EQ(count(&trust), 3);
  EXPECT_TRUE(trust.is_assumed);
  EXPECT_TRUE(run_places(5));
  EXPECT_EQ(found<std::int64_t>(0x3000, 3), (Indices{0, 2, 4}));
}

TEST_F(SmallCounts, OfManyBlocksAreAddedUp) {
  set_mask({1, 0, 1});
  MaskRange range;
  const char* counts = mask_at(0x4000);
  const char* to = mask_at(0x2000);
  int elements = 3;
  int blocks = 2;
  EXPECT_TRUE(run(kBlocks, {&range, &counts, &elements}, 2));
  EXPECT_TRUE(run(kSumOfBlocks, {&counts, &to, &blocks}));
  EXPECT_EQ(count(), 2);
}

TEST_F(SmallCounts, OtherSumsAreNotKnown) {
  const char* from = mask_at(0x4000);
  const char* to = mask_at(0x2000);
  int numbers = 2;
  EXPECT_FALSE(run(kSumOfBlocks, {&from, &to, &numbers}));
}

TEST_F(SmallCounts, PlacesBecomeIndicesOfEachDimension) {
  const Indices places{1, 5};
  known_.set(mask_at(0x3000), places.data(), places.size() * sizeof(places[0]));
  const char* to = mask_at(0x3000);
  std::array<std::int32_t, 16> sizes{2, 3};
  int dimensions = 2;
  std::int32_t found_places = 2;
  EXPECT_TRUE(run(kIndices, {&to, sizes.data(), &dimensions, &found_places}));
  EXPECT_EQ(found<std::int64_t>(0x3000, 4), (Indices{0, 1, 1, 2})) << "rows, then columns";
}

}  // namespace
}  // namespace headroom::dry_run
