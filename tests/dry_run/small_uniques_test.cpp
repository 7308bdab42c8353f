// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them.
#include "src/dry_run/small_uniques.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace headroom::dry_run {
namespace {

using Lengths = std::vector<std::int64_t>;

const char* const kKeepOne =
    "_ZN14at_cuda_detail3cub6detail6select23DeviceSelectSweepKernelINS2_10policy_hubIfNS0_"
    "8NullTypeEiLb0ELNS0_10SelectImplE0EE10Policy1000EPKfPS5_PfPlNS0_13ScanTileStateIiLb1EEES5_"
    "N4cuda3std3__48equal_toIvEEiNS2_19streaming_context_tIlLb1EEELS6_0EEEvT0_T1_T2_T3_T4_T5_T6_T7_"
    "iT8_NS1_7vsmem_tE";
const char* const kCountEach =
    "_ZN14at_cuda_detail3cub6detail6reduce23DeviceReduceByKeyKernelINS1_3rle6encode10policy_hubIlfE"
    "10Policy1000EPKfPfN6thrust17constant_iteratorIliNSD_11use_defaultEEEPlSH_NS0_"
    "24ReduceByKeyScanTileStateIliLb1EEEN4cuda3std3__48equal_toIvEENSM_4plusIvEEilEEvT0_T1_T2_T3_"
    "T4_"
    "T5_iT6_T7_T8_";

const char* float_at(std::size_t number) {
  return reinterpret_cast<const char*>(std::uintptr_t{1} << 40U) + number;
}
bool is_of_gpu(const void* address) { return address >= float_at(0); }

class SmallUniques : public testing::Test {
 protected:
  void set(const std::vector<float>& numbers) {
    known_.set(from_, numbers.data(), numbers.size() * sizeof(float));
  }
  bool run(const char* name, std::vector<void*> arguments) {
    EXPECT_TRUE(is_unique(name));
    return run_unique(name, arguments.data(), known_, &is_of_gpu);
  }
  bool run_count_each(int numbers) {
    return run(kCountEach, {&from_, &firsts_, nullptr, &lengths_, &count_, nullptr, nullptr,
                            nullptr, nullptr, &numbers});
  }
  template <class T>
  std::vector<T> found(const char* at, std::size_t count, Trust* trust = nullptr) const {
    const auto bytes = known_.find(at, count * sizeof(T), trust);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  KnownBytes known_;
  const char* from_ = float_at(0x1000);
  const char* firsts_ = float_at(0x2000);
  const char* lengths_ = float_at(0x3000);
  const char* count_ = float_at(0x4000);
};

TEST_F(SmallUniques, CountWhatStandsInARow) {
  set({1, 1, 4, 1, 1, 1});
  Trust trust;
  EXPECT_TRUE(run_count_each(6));
  EXPECT_EQ(found<std::int64_t>(count_, 1, &trust), Lengths{3});
  EXPECT_EQ(found<std::int64_t>(lengths_, 3, &trust), (Lengths{2, 1, 3}));
  EXPECT_EQ(found<float>(firsts_, 3, &trust), (std::vector<float>{1, 4, 1}));
  EXPECT_FALSE(trust.is_assumed);
}

TEST_F(SmallUniques, KeepOneOfEach) {
  set({1, 1, 4});
  int numbers = 3;
  EXPECT_TRUE(
      run(kKeepOne, {&from_, nullptr, &firsts_, &count_, nullptr, nullptr, nullptr, &numbers}));
  EXPECT_EQ(found<std::int64_t>(count_, 1), Lengths{2});
  EXPECT_EQ(found<float>(firsts_, 2), (std::vector<float>{1, 4}));
}

TEST_F(SmallUniques, OfNumbersThatAreNotKnownThereIsOne) {
  Trust trust;
  EXPECT_TRUE(run_count_each(6));
  EXPECT_EQ(found<std::int64_t>(count_, 1, &trust), Lengths{1});
  EXPECT_EQ(found<std::int64_t>(lengths_, 1), Lengths{6});
  EXPECT_TRUE(trust.is_assumed);
}

}  // namespace
}  // namespace headroom::dry_run
