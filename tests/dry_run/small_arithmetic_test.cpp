// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them.
#include "src/dry_run/small_arithmetic.h"

#include <c10/core/ScalarType.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace headroom::dry_run {
namespace {

const std::string kInARow = "_ZN2at6native29vectorized_elementwise_kernelILi4E";
const std::string kTwoTensors = "St5arrayIPcLm2EEEEviT0_T1_";
const std::string kThreeTensors = "St5arrayIPcLm3EEEEviT0_T1_";
const std::string kOfFloats = "ERNS_18TensorIteratorBaseEENKUlvE_clEvENKUlvE0_clEv";

const std::string kScales = "NS0_13AUnaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEE";
const std::string kScalesWholeNumbers =
    "_ZN2at6native27unrolled_elementwise_kernelI" + kScales +
    "St5arrayIPcLm2EELi4E23TrivialOffsetCalculatorILi1EjESB_NS0_6memory12LoadWithCastILi1EEENSC_"
    "13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_";
const std::string kRounds = "ZZZNS0_17round_kernel_cuda" + kOfFloats + "EUlfE_";
const std::string kComparesFloats =
    "NS0_50_GLOBAL__N__e50ef81d_17_CompareKernels_cu_8f1b29aa14CompareFunc"
    "torIfEE";
const std::string kAddsEachToEach =
    "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastINS0_15CUDAFunctor_"
    "addIlEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_";
const std::string kNegatesWords =
    "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastIZZZNS0_15neg_kernel_"
    "cuda" +
    kOfFloats + "EUltE_EEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_";

constexpr std::uintptr_t kMade = 0x1000;
constexpr std::uintptr_t kLeft = 0x2000;
constexpr std::uintptr_t kRight = 0x3000;

const void* operand(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }
bool is_operand(const void* address) {
  return address >= operand(kMade) && address < operand(kRight + 0x1000);
}

/// What elementwise_kernel is given, for so many tensors.
struct StridedFunction {
  explicit StridedFunction(std::size_t of_tensors) : tensors(of_tensors) {}

  void put(std::size_t offset, const auto& value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
  }
  void dimensions(const std::vector<std::uint32_t>& sizes,
                  const std::vector<std::vector<std::uint32_t>>& strides) {
    put(0, static_cast<int>(sizes.size()));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      put(4 + 12 * i, sizes[i]);
      for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
        put(304 + 4 * (i * tensors + tensor), strides[i][tensor]);
      }
    }
  }

  std::size_t tensors;
  std::array<char, 1000> bytes{};
};

class SmallArithmeticTest : public testing::Test {
 protected:
  template <class Number>
  void set(std::uintptr_t to, const std::vector<Number>& numbers) {
    known.set(operand(to), numbers.data(), numbers.size() * sizeof(Number));
  }
  /// Empty: they are not known.
  template <class Number>
  std::vector<Number> numbers(std::size_t count) const {
    const auto bytes = known.find(operand(kMade), count * sizeof(Number));
    std::vector<Number> result(bytes.size() / sizeof(Number));
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
  bool run(const std::string& name, std::vector<void*> arguments) {
    return run_arithmetic(name, arguments.data(), known, &is_operand);
  }
  bool run_in_a_row(const std::string& name, void* functor, int count,
                    std::vector<std::uintptr_t> data = {kMade, kLeft, kRight}) {
    return run(name, {&count, functor, data.data()});
  }

  KnownBytes known;
};

TEST_F(SmallArithmeticTest, ComputesWithFloats) {
  std::array<float, 2> functor{0, 2.5F};  // behind what is empty
  set<float>(kLeft, {1, 3});
  EXPECT_TRUE(run_in_a_row(kInARow + kScales + kTwoTensors, functor.data(), 2));
  EXPECT_EQ(numbers<float>(2), (std::vector<float>{2.5F, 7.5F}));
  set<float>(kLeft, {2.5F, 3.5F});
  EXPECT_TRUE(run_in_a_row(kInARow + kRounds + kTwoTensors, functor.data(), 2));
  EXPECT_EQ(numbers<float>(2), (std::vector<float>{2, 4})) << "to the even one";
}

TEST_F(SmallArithmeticTest, GivesBoolsWhereItCompares) {
  int is_greater = 1;
  set<float>(kLeft, {1, 3});
  set<float>(kRight, {1, 2});
  EXPECT_TRUE(run_in_a_row(kInARow + kComparesFloats + kThreeTensors, &is_greater, 2));
  EXPECT_EQ(numbers<char>(2), (std::vector<char>{0, 1}));
}

TEST_F(SmallArithmeticTest, ConvertsWhatItReads) {
  std::array<float, 2> functor{0, 0.5F};
  std::array<std::uintptr_t, 2> data{kMade, kLeft};
  int count = 2;
  auto load = c10::ScalarType::Long;
  auto store = c10::ScalarType::Float;
  set<std::int64_t>(kLeft, {3, 4});
  const auto run_it = [&] {
    return run(kScalesWholeNumbers,
               {&count, functor.data(), data.data(), nullptr, nullptr, &load, &store});
  };
  EXPECT_TRUE(run_it());
  EXPECT_EQ(numbers<float>(2), (std::vector<float>{1.5F, 2}));
  store = c10::ScalarType::Double;
  EXPECT_FALSE(run_it()) << "which no kernel does";
}

TEST_F(SmallArithmeticTest, ConvertsWhatLiesApart) {
  const std::string sums =
      "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_15gpu_kernel_implIZZZNS0_23direct_copy_"
      "kernel_cudaERNS_18TensorIteratorBaseEENKUlvE1_clEvENKUlvE2_clEvEUllE_EEvS4_RKT_EUliE_"
      "EEviT1_";
  StridedFunction given(2);
  given.dimensions({2}, {{8, 3}});  // every third
  given.put(504, std::array{kMade, kLeft});
  given.put(520 + 1, std::array{c10::ScalarType::Long, c10::ScalarType::Bool});
  int count = 2;
  known.set(operand(kLeft), "\1\0\0\0", 4);
  EXPECT_TRUE(run(sums, {&count, given.bytes.data()}));
  EXPECT_EQ(numbers<std::int64_t>(2), (std::vector<std::int64_t>{1, 0}));
}

TEST_F(SmallArithmeticTest, KeepsNumbersBetweenTwo) {
  const std::string clamp =
      kInARow +
      "ZZZNS0_49_GLOBAL__N__d2ba64fb_16_TensorCompare_cu_71e06f4e19launch_clamp_scalarERNS_"
      "18TensorIteratorBaseEN3c106ScalarES6_NS0_6detail11ClampLimitsEENKUlvE_clEvENKUlvE2_"
      "clEvEUllE_" +
      kTwoTensors;
  std::array<std::int64_t, 3> functor{2, 3, 5};  // which limits there are, and these
  set<std::int64_t>(kLeft, {1, 4, 9});
  EXPECT_TRUE(run_in_a_row(clamp, functor.data(), 3));
  EXPECT_EQ(numbers<std::int64_t>(3), (std::vector<std::int64_t>{3, 4, 5}));
  known.forget(operand(kLeft), 24);
  EXPECT_TRUE(run_in_a_row(clamp, functor.data(), 3));
  EXPECT_EQ(numbers<std::int64_t>(3), (std::vector<std::int64_t>{3, 3, 3})) << "are not known";
  functor[1] = -3;
  EXPECT_TRUE(run_in_a_row(clamp, functor.data(), 3));
  EXPECT_TRUE(numbers<std::int64_t>(3).empty()) << "may be 0";
  set<std::int64_t>(kLeft, {1, 4, 9});
  functor = {0, 3, 3};
  EXPECT_TRUE(run_in_a_row(clamp, functor.data(), 3));
  EXPECT_EQ(numbers<std::int64_t>(3), (std::vector<std::int64_t>{3, 4, 9}));
  functor = {1, 3, 3};
  EXPECT_TRUE(run_in_a_row(clamp, functor.data(), 3));
  EXPECT_EQ(numbers<std::int64_t>(3), (std::vector<std::int64_t>{1, 3, 3}));
}

TEST_F(SmallArithmeticTest, LeavesNothingOfWholeNumbersDividedByOne) {
  const std::string rest =
      kInARow +
      "NS0_13BUnaryFunctorIlllZZZNS0_21remainder_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE_clEv"
      "ENKUlvE2_clEvEUlllE_EE" +
      kTwoTensors;
  std::array<std::int64_t, 2> functor{0, 1};
  EXPECT_TRUE(run_in_a_row(rest, functor.data(), 2));
  EXPECT_EQ(numbers<std::int64_t>(2), (std::vector<std::int64_t>{0, 0})) << "whatever they are";
  functor[1] = 2;
  EXPECT_TRUE(run_in_a_row(rest, functor.data(), 2));
  EXPECT_TRUE(numbers<std::int64_t>(2).empty());
}

TEST_F(SmallArithmeticTest, AddsUpTheSharesOfTwoMasks) {
  const std::string either =
      kInARow + "NS0_13BinaryFunctorIhhhNS0_16BitwiseOrFunctorIhEEEE" + kThreeTensors;
  char functor = 0;
  known.set_share(operand(kLeft), 8, 0.25);
  EXPECT_TRUE(run_in_a_row(either, &functor, 8));
  EXPECT_FALSE(known.share(operand(kMade))) << "the other is not known";
  known.set_share(operand(kRight), 8, 0.5);
  EXPECT_TRUE(run_in_a_row(either, &functor, 8));
  EXPECT_EQ(known.share(operand(kMade)), 0.75);
}

TEST_F(SmallArithmeticTest, TakesElementsAgainAndAgain) {
  StridedFunction given(3);
  given.dimensions({2, 2}, {{8, 0, 8}, {16, 8, 0}});  // a column and a row
  given.put(608, std::array{kMade, kLeft, kRight});
  given.put(632, std::int64_t{1});
  int count = 4;
  set<std::int64_t>(kLeft, {10, 20});
  set<std::int64_t>(kRight, {1, 2});
  EXPECT_TRUE(run(kAddsEachToEach, {&count, given.bytes.data()}));
  EXPECT_EQ(numbers<std::int64_t>(4), (std::vector<std::int64_t>{11, 12, 21, 22}));
  count = 5;
  EXPECT_FALSE(run(kAddsEachToEach, {&count, given.bytes.data()}))
      << "not as many as the sizes say";
}

TEST_F(SmallArithmeticTest, ForgetsWhatIsMadeOfWhatIsNotKnown) {
  std::array<float, 2> functor{0, 2.5F};
  set<float>(kMade, {7, 7});
  EXPECT_TRUE(run_in_a_row(kInARow + kScales + kTwoTensors, functor.data(), 2));
  EXPECT_TRUE(numbers<float>(2).empty());
}

TEST_F(SmallArithmeticTest, FollowsNothingElse) {
  std::array<float, 2> functor{0, 2.5F};
  StridedFunction given(2);
  given.dimensions({2}, {{4, 4}});
  given.put(504, std::array{kMade, kLeft});
  int count = 2;
  set<float>(kLeft, {1, 3});
  EXPECT_FALSE(run(kNegatesWords, {&count, given.bytes.data()}))
      << "the lambda of a place has an int";
  EXPECT_FALSE(run_in_a_row("of_somebody_else", functor.data(), 2));
  EXPECT_FALSE(run_in_a_row(kInARow + kScales + kTwoTensors, functor.data(), 2, {0x10, kLeft}))
      << "not of the device";
}

}  // namespace
}  // namespace headroom::dry_run
