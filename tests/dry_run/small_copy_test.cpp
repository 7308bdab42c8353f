// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them.
#include "src/dry_run/small_copy.h"

#include <c10/core/ScalarType.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace headroom::dry_run {
namespace {

const char* const kToWholeNumbers =
    "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_18TensorIterat"
    "orBaseEENKUlvE1_clEvENKUlvE2_clEvEUllE_St5arrayIPcLm2EELi4E23TrivialOffsetCalculatorILi1EjESB_"
    "NS0_6memory12LoadWithCastILi1EEENSC_13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_";

struct Caster {
  c10::ScalarType type;
  std::uint32_t width;
};

constexpr Caster kBools{c10::ScalarType::Bool, 1};
constexpr Caster kFloats{c10::ScalarType::Float, 4};
constexpr Caster kDoubles{c10::ScalarType::Double, 8};
constexpr Caster kWholeNumbers{c10::ScalarType::Long, 8};
constexpr Caster kComplex{c10::ScalarType::ComplexFloat, 8};

const char* const kFrom = reinterpret_cast<const char*>(0x1000);
const char* const kTo = reinterpret_cast<const char*>(0x2000);

const char* const kNamesItsTypes =
    "_ZN2at6native29vectorized_elementwise_kernelILi2EZNS0_27converting_copy_kernel_cudaIblEEvRNS_"
    "18TensorIteratorBaseEEUlbE_St5arrayIPcLm2EELb0EEEviT0_T1_";

class SmallCopyTest : public testing::Test {
 protected:
  /// What of `count` is known behind it, and whether it is assumed.
  template <class Number>
  std::vector<Number> copied(int count, Caster from, Caster to,
                             const char* name = kToWholeNumbers) {
    std::array<const char*, 2> data{kTo, kFrom};
    char nothing = 0;
    std::array<void*, 7> arguments{&count, nullptr, data.data(), &nothing, &nothing, &from, &to};
    run_converting_copy(name, arguments.data(), known);
    trust = {};
    const auto bytes = known.find(kTo, static_cast<std::size_t>(count) * sizeof(Number), &trust);
    std::vector<Number> numbers(bytes.size() / sizeof(Number));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }

  KnownBytes known;
  Trust trust;
};

TEST_F(SmallCopyTest, MayNameItsTypes) {  // since PyTorch 2.15
  const std::array<bool, 2> bools{true, false};
  known.set(kFrom, bools.data(), sizeof(bools));
  EXPECT_EQ(copied<std::int64_t>(2, {}, {}, kNamesItsTypes), (std::vector<std::int64_t>{1, 0}));
  EXPECT_FALSE(trust.is_assumed);
}

TEST_F(SmallCopyTest, IsToldByItsName) {
  EXPECT_TRUE(is_converting_copy(kToWholeNumbers));
  EXPECT_TRUE(is_converting_copy(kNamesItsTypes));
  EXPECT_FALSE(is_converting_copy("27converting_copy_kernel_cudaIN3c104HalfEfEEv"));
  EXPECT_FALSE(
      is_converting_copy("_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_23direct"
                         "_copy_kernel_cudaERNS_18TensorIteratorBaseE"));
}

TEST_F(SmallCopyTest, ConvertsWhatIsKnown) {
  const std::array numbers{2.75F, -3.5F, 0.0F};
  known.set(kFrom, numbers.data(), sizeof(numbers));
  EXPECT_EQ(copied<std::int64_t>(3, kFloats, kWholeNumbers), (std::vector<std::int64_t>{2, -3, 0}));
  EXPECT_FALSE(trust.is_assumed);
  EXPECT_EQ(copied<double>(3, kFloats, kDoubles), (std::vector<double>{2.75, -3.5, 0}));
  EXPECT_EQ(copied<char>(3, kFloats, kBools), (std::vector<char>{1, 1, 0}));
  known.set(kFrom, "\1\0", 2);
  EXPECT_EQ(copied<std::int64_t>(2, kBools, kWholeNumbers), (std::vector<std::int64_t>{1, 0}));
  EXPECT_FALSE(trust.is_assumed);
}

TEST_F(SmallCopyTest, TakesForTrueWhatIsNotKnownOfBools) {
  EXPECT_EQ(copied<std::int64_t>(3, kBools, kWholeNumbers), (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_TRUE(trust.is_assumed) << "nobody computed it";
}

TEST_F(SmallCopyTest, ForgetsWhereItConvertsWhatIsNotKnown) {
  known.set(kTo, "01234567", 8);
  EXPECT_TRUE(copied<std::int64_t>(1, kFloats, kWholeNumbers).empty());
  known.set(kFrom, "01234567", 8);
  known.set(kTo, "01234567", 8);
  EXPECT_TRUE(copied<double>(1, kComplex, kDoubles).empty()) << "a type that is not followed";
}

}  // namespace
}  // namespace headroom::dry_run
