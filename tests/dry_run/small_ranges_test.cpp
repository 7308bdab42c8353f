// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them.
#include "src/dry_run/small_ranges.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace headroom::dry_run {
namespace {

const std::string kBegin =
    "_ZN50_GLOBAL__N__fa15d16e_17_RangeFactories_cu_38772b0829elementwise_kernel_with_indexIiZZZN2"
    "at6native";
const std::string kEnd = "clEvEUllE_EEvT_T0_PN15function_traitsISD_E11result_typeE";
const std::string kArange =
    "15arange_cuda_outERKN3c106ScalarES6_S6_RNS1_6TensorEENKUlvE_clEvENKUlv";
const std::string kLinspace =
    "17linspace_cuda_outERKN3c106ScalarES6_lRNS1_6TensorEENKUlvE0_clEvENKUlv";

const std::string kLong = kBegin + kArange + "E2_" + kEnd;
const std::string kBytes = kBegin + kArange + "E_" + kEnd;
const std::string kRates = kBegin + kLinspace + "E0_" + kEnd;

bool is_of_device(const void* address) { return address == reinterpret_cast<const void*>(0x1000); }

class SmallRangesTest : public testing::Test {
 protected:
  bool run(const std::string& name, void* functor, int count, std::uintptr_t address = 0x1000) {
    std::vector<void*> arguments{&count, functor, &address};
    return run_range(name.c_str(), arguments.data(), known, &is_of_device);
  }
  template <class Number>
  std::vector<Number> numbers(std::size_t count) const {
    const auto bytes = known.find(reinterpret_cast<const void*>(0x1000), count * sizeof(Number));
    std::vector<Number> result(bytes.size() / sizeof(Number));
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }

  KnownBytes known;
};

TEST_F(SmallRangesTest, AreToldByTheirNames) {
  EXPECT_TRUE(is_range(kLong.c_str()));
  EXPECT_TRUE(is_range(kRates.c_str()));
  EXPECT_FALSE(is_range(kBytes.c_str())) << "a type that is not followed";
  EXPECT_FALSE(is_range((kArange + "E2_").c_str()));
}

TEST_F(SmallRangesTest, CountFromTheirStart) {
  std::vector<std::int64_t> start_and_step{3, -2};
  EXPECT_TRUE(run(kLong, start_and_step.data(), 4));
  EXPECT_EQ(numbers<std::int64_t>(4), (std::vector<std::int64_t>{3, 1, -1, -3}));
}

TEST_F(SmallRangesTest, AreMadeFromBothEnds) {
  struct {
    float start = 0, end = 0.3F;
    std::int64_t steps = 4;
    float step = 0.1F;
    std::int64_t half = 2;
  } functor;
  EXPECT_TRUE(run(kRates, &functor, 4));
  EXPECT_EQ(numbers<float>(4), (std::vector<float>{0, 0.1F, 0.3F - 0.1F, 0.3F}));
}

TEST_F(SmallRangesTest, AreNoneWhereNothingIsAsExpected) {
  std::vector<std::int64_t> start_and_step{0, 1};
  EXPECT_FALSE(run(kLong, start_and_step.data(), 4, /*address=*/0x2000));
  EXPECT_FALSE(run(kLong, start_and_step.data(), 0));
}

}  // namespace
}  // namespace headroom::dry_run
