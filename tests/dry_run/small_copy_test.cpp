// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them.
#include <c10/core/ScalarType.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "src/dry_run/small_arithmetic.h"

namespace headroom::dry_run {
namespace {

std::string copy_to(const std::string& place, const std::string& type) {
  return "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_"
         "18TensorIte"
         "ratorBaseEENKUlvE1_clEvENKUlvE" +
         place + "_clEvEUl" + type +
         "E_St5arrayIPcLm2EELi4E23TrivialOffsetCalculatorILi1EjESB_NS0_"
         "6memory12LoadWithCastILi1EEENSC_"
         "13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_";
}
const std::string kToWholeNumbers = copy_to("2", "l");
const std::string kToDoubles = copy_to("4", "d");
const std::string kToBools = copy_to("7", "b");
const std::string kToHalves = copy_to("6", "N3c104HalfE");

struct Caster {
  c10::ScalarType type;
  std::uint32_t width;
};

constexpr Caster kBools{c10::ScalarType::Bool, 1};
constexpr Caster kFloats{c10::ScalarType::Float, 4};
constexpr Caster kHalves{c10::ScalarType::Half, 2};
constexpr Caster kDoubles{c10::ScalarType::Double, 8};
constexpr Caster kWholeNumbers{c10::ScalarType::Long, 8};
constexpr Caster kComplex{c10::ScalarType::ComplexFloat, 8};

const char* const kFrom = reinterpret_cast<const char*>(0x10000000);
const char* const kTo = reinterpret_cast<const char*>(0x20000000);

const std::string kNamesItsTypes =
    "_ZN2at6native29vectorized_elementwise_kernelILi2EZNS0_27converting_copy_kernel_cudaIblEEvRNS_"
    "18TensorIteratorBaseEEUlbE_St5arrayIPcLm2EELb0EEEviT0_T1_";

class SmallCopyTest : public testing::Test {
 protected:
  /// What of `count` is known behind it, and whether it is assumed.
  template <class Number>
  std::vector<Number> copied(int count, Caster from, Caster to,
                             const std::string& name = kToWholeNumbers) {
    std::array<const char*, 2> data{kTo, kFrom};
    char nothing = 0;
    std::array<void*, 7> arguments{&count, nullptr, data.data(), &nothing, &nothing, &from, &to};
    if (!run_arithmetic(name, arguments.data(), known, [](const void*) { return true; })) return {};
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

TEST_F(SmallCopyTest, ReadsTokensOf16Bits) {
  const std::array<std::uint16_t, 3> tokens{50256, 7, 65535};
  known.set(kFrom, tokens.data(), sizeof(tokens));
  EXPECT_EQ(copied<std::int64_t>(3, {c10::ScalarType::UInt16, 2}, kWholeNumbers),
            (std::vector<std::int64_t>{50256, 7, 65535}));
}

// Of the numbers that it becomes there are too many to be kept.
TEST_F(SmallCopyTest, KeepsALargeMaskAsFlags) {
  std::vector<unsigned char> mask(KnownBytes::kMaxBytesOfNumbers / 8 + 1, 1);
  mask[5] = 0;
  known.set(kFrom, mask.data(), mask.size());
  EXPECT_TRUE(copied<std::int64_t>(static_cast<int>(mask.size()), kBools, kWholeNumbers).empty());
  EXPECT_EQ(known.flags(kTo), mask);
}

TEST_F(SmallCopyTest, ConvertsWhatIsKnown) {
  const std::array numbers{2.75F, -3.5F, 0.0F};
  known.set(kFrom, numbers.data(), sizeof(numbers));
  EXPECT_EQ(copied<std::int64_t>(3, kFloats, kWholeNumbers), (std::vector<std::int64_t>{2, -3, 0}));
  EXPECT_FALSE(trust.is_assumed);
  EXPECT_EQ(copied<double>(3, kFloats, kDoubles, kToDoubles), (std::vector<double>{2.75, -3.5, 0}));
  const std::array small{0.75F, -3.5F, 0.0F};
  known.set(kFrom, small.data(), sizeof(small));
  EXPECT_EQ(copied<char>(3, kFloats, kBools, kToBools), (std::vector<char>{1, 1, 0}));
  EXPECT_EQ(copied<c10::Half>(3, kFloats, kHalves, kToHalves),
            (std::vector<c10::Half>{0.75F, -3.5F, 0.0F}));
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
  EXPECT_TRUE(copied<double>(1, kComplex, kDoubles, kToDoubles).empty())
      << "a type that is not followed";
}

}  // namespace
}  // namespace headroom::dry_run
