// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them.
#include "src/dry_run/small_kernels.h"

#include <c10/core/ScalarType.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace headroom::dry_run {
namespace {

using Numbers = std::vector<std::int64_t>;

const char* const kAddNumber =
    "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_21CUDAFunctorOnSelf_addIlEESt5arrayIPcLm2"
    "EEEEviT0_T1_";
const char* const kAdd =
    "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_15CUDAFunctor_addIlEESt5arrayIPcLm3EEEEvi"
    "T0_T1_";
const char* const kCompare =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_50_GLOBAL__N__e50ef81d_17_CompareKernels_"
    "cu_8f1b29aa14CompareFunctorIlEESt5arrayIPcLm3EEEEviT0_T1_";
const char* const kEqual =
    "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_13BinaryFunctorIllbNS0_51_GLOBAL__N__"
    "28ce311f_18_CompareEQKernel_cu_d8008c9616CompareEqFunctorIlEEEESt5arrayIPcLm3EEEEviT0_T1_";
const char* const kEqualNumber =
    "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_13AUnaryFunctorIllbNS0_51_GLOBAL__N__"
    "28ce311f_18_CompareEQKernel_cu_d8008c9616CompareEqFunctorIlEEEESt5arrayIPcLm2EEEEviT0_T1_";
const char* const kEqualFloats =
    "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_13BinaryFunctorIffbNS0_51_GLOBAL__N__"
    "28ce311f_18_CompareEQKernel_cu_d8008c9616CompareEqFunctorIfEEEESt5arrayIPcLm3EEEEviT0_T1_";
const char* const kEqualAFloat =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13AUnaryFunctorIffbNS0_51_GLOBAL__N__"
    "28ce311f_18_CompareEQKernel_cu_d8008c9616CompareEqFunctorIfEEEESt5arrayIPcLm2EEEEviT0_T1_";
const char* const kProductOfBools =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIbbbNS0_15binary_internal"
    "10MulFunctorIbEEEESt5arrayIPcLm3EEEEviT0_T1_";
const char* const kOr =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIbbbNS0_16BitwiseOrFunctor"
    "IbEEEESt5arrayIPcLm3EEEEviT0_T1_";
const char* const kNot =
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_23bitwise_not_kernel_cudaERNS_18Tensor"
    "IteratorBaseEENKUlvE_clEvENKUlvE4_clEvEUlbE_St5arrayIPcLm2EEEEviT0_T1_";
const char* const kAnd =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIlllNS0_17BitwiseAndFuncto"
    "rIlEEEESt5arrayIPcLm3EEEEviT0_T1_";
const char* const kBoth =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIbbbNS0_17BitwiseAndFuncto"
    "rIbEEEESt5arrayIPcLm3EEEEviT0_T1_";
const char* const kAndThatConverts =
    "_ZN2at6native27unrolled_elementwise_kernelINS0_13BinaryFunctorIlllNS0_17BitwiseAndFunctorIlEEE"
    "ESt5arrayIPcLm3EELi4E23TrivialOffsetCalculatorILi2EjES9_ILi1EjENS0_6memory12LoadWithCastILi2EE"
    "ENSC_13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_";
const char* const kFill =
    "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_11FillFunctorIlEESt5arrayIPcLm1EEEEviT0_T"
    "1_";
const char* const kFillBools =
    "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_11FillFunctorIbEESt5arrayIPcLm1EEEEviT0_T"
    "1_";
const char* const kErrorFunction =
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_15erf_kernel_cudaERNS_"
    "18TensorIteratorBaseEENKUlvE0_clEvENKUlvE0_clEvEUlfE_St5arrayIPcLm2EEEEviT0_T1_";
const char* const kMax =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIlNS0_14func_wrapper_tIlNS0_"
    "13MaxNanFunctorIlEEEEjlLi4ELi4EEEEEvT1_";
const char* const kMin =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIlNS0_14func_wrapper_tIlNS0_"
    "13MinNanFunctorIlEEEEjlLi4ELi4EEEEEvT1_";
const char* const kAny =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIbNS0_14func_wrapper_tIbZZZNS0_14or_"
    "kernel_cudaERNS_14TensorIteratorEENKUlvE_clEvENKUlvE10_clEvEUlbbE_EEjbLi4ELi4EEEEEvT1_";
const char* const kAll =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIbNS0_14func_wrapper_tIbZZZNS0_15and_"
    "kernel_cudaERNS_14TensorIteratorEENKUlvE_clEvENKUlvE10_clEvEUlbbE_EEjbLi4ELi4EEEEEvT1_";
const char* const kSum =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIlNS0_14func_wrapper_tIlZNS0_11sum_functor"
    "IlllEclERNS_14TensorIteratorEEUlllE_EEjlLi4ELi4EEEEEvT1_";

const char* place(std::size_t address) { return reinterpret_cast<const char*>(address); }
bool is_owned(const void* address) { return address >= place(0x1000) && address < place(0x10000); }

class SmallKernelsTest : public testing::Test {
 protected:
  void set(std::size_t to, const Numbers& numbers) {
    known.set(place(to), numbers.data(), numbers.size() * sizeof(std::int64_t));
  }
  /// Empty: they are not known.
  Numbers numbers(std::size_t from, std::size_t count) const {
    const auto bytes = known.find(place(from), count * sizeof(std::int64_t));
    Numbers result(bytes.size() / sizeof(std::int64_t));
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }

  bool run(const char* name, std::vector<void*> arguments, unsigned grid_y = 1) {
    const SmallKernel kernel = small_kernel(name);
    const SmallLaunch launch{name, arguments.data(), 1, grid_y, 1, blocks};
    return kernel.run != nullptr && kernel.run(launch, known, &is_owned);
  }
  /// `functor`: its members.
  bool run_elementwise(const char* name, Numbers functor, std::vector<const char*> data) {
    int count = 2;
    return run(name, {&count, functor.data(), data.data()});
  }
  bool run_all(int inputs, const char* from, const char* to, const char* name = kAll) {
    return run_reduce(name, {1, inputs, 1}, 4, {from, to}, 976);
  }
  bool run_sum(int inputs, const char* from, const char* to, const char* name = kSum) {
    return run_reduce(name, {8, inputs, 1}, 16, {from, to}, 992);
  }
  /// `config` and `pointers`: that many bytes behind the begin of what the kernel is given.
  bool run_reduce(const char* name, std::array<int, 3> config, std::size_t config_at,
                  std::array<const char*, 2> pointers, std::size_t pointers_at) {
    std::array<char, 1200> operation{};
    std::memcpy(&operation[config_at], config.data(), sizeof(config));
    constexpr std::size_t kOffsets =
        64;  // behind the config: {dimensions, {size, ...}[25], stride}
    const std::array<int, 2> places{1, config[1]};
    std::memcpy(&operation[config_at + kOffsets], places.data(), sizeof(places));
    std::memcpy(&operation[config_at + kOffsets + 4 + 25 * 12], config.data(), sizeof(int));
    std::memcpy(&operation[pointers_at], pointers.data(), sizeof(pointers));
    return run(name, {operation.data()});
  }

  KnownBytes known;
  LiveBlocks blocks;
};

TEST_F(SmallKernelsTest, AddAndCompareWhatIsKnown) {
  set(0x1000, {3, 4});
  set(0x2000, {5, 4});
  EXPECT_TRUE(run_elementwise(kAddNumber, {10, 2}, {place(0x3000), place(0x1000)}));
  EXPECT_EQ(numbers(0x3000, 2), (Numbers{23, 24}));
  EXPECT_TRUE(
      run_elementwise(kAdd, {-1}, {place(0x1000), place(0x1000), place(0x2000)}));  // in place
  EXPECT_EQ(numbers(0x1000, 2), (Numbers{-2, 0}));
  EXPECT_TRUE(run_elementwise(kCompare, {1}, {place(0x4000), place(0x2000), place(0x3000)}));
  EXPECT_EQ(known.find(place(0x4000), 2), (std::vector<unsigned char>{0, 0}));
  EXPECT_TRUE(run_elementwise(kCompare, {1}, {place(0x4000), place(0x3000), place(0x2000)}));
  EXPECT_EQ(known.find(place(0x4000), 2), (std::vector<unsigned char>{1, 1}));
}

TEST_F(SmallKernelsTest, FindWhatIsEqualOfWholeNumbersThatAreKnown) {
  const std::vector<const char*> data{place(0x4000), place(0x1000), place(0x2000)};
  const auto found = [&] { return known.find(place(0x4000), 2); };
  constexpr std::int64_t kIs = 0;
  constexpr std::int64_t kIsNot = 1;
  set(0x1000, {3, 4});
  set(0x2000, {5, 4});
  EXPECT_TRUE(run_elementwise(kEqual, {kIs}, data));
  EXPECT_EQ(found(), (std::vector<unsigned char>{0, 1}));
  EXPECT_TRUE(run_elementwise(kEqual, {kIsNot}, data));
  EXPECT_EQ(found(), (std::vector<unsigned char>{1, 0}));
  EXPECT_TRUE(run_elementwise(kEqualNumber, {kIs, 3}, data));
  EXPECT_EQ(found(), (std::vector<unsigned char>{1, 0}));
  known.forget(place(0x2000), 8);
  known.forget(place(0x2008), 8);
  EXPECT_TRUE(run_elementwise(kEqualNumber, {kIs, 4}, data));
  EXPECT_EQ(found(), (std::vector<unsigned char>{0, 1}));
  EXPECT_TRUE(run_elementwise(kEqual, {kIs}, data));
  EXPECT_TRUE(found().empty());
}

TEST_F(SmallKernelsTest, FindWhatIsEqualOfFloatsThatAreKnown) {
  const auto set_floats = [&](std::size_t to, std::array<float, 2> floats) {
    known.set(place(to), floats.data(), sizeof(floats));
  };
  set_floats(0x1000, {0.0F, std::numeric_limits<float>::quiet_NaN()});
  set_floats(0x2000, {-0.0F, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_TRUE(run_elementwise(kEqualFloats, {0}, {place(0x4000), place(0x1000), place(0x2000)}));
  EXPECT_EQ(known.find(place(0x4000), 2), (std::vector<unsigned char>{1, 0}));
}

TEST_F(SmallKernelsTest, TakeFloatsThatAreNotKnownForFinite) {
  constexpr std::int64_t kIs = 0;
  constexpr std::int64_t kIsNot = 1;
  const auto with_number = [](std::int64_t which, float number) {
    return Numbers{which | static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(number)) << 32};
  };
  const auto run_with = [&](Numbers functor) {
    return run_elementwise(kEqualAFloat, std::move(functor), {place(0x3000), place(0x1000)});
  };
  Trust trust;
  const auto found = [&](std::size_t from) { return known.find(place(from), 2, &trust); };
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(run_with(with_number(kIsNot, infinity)));
  EXPECT_EQ(found(0x3000), (std::vector<unsigned char>{1, 1}));
  EXPECT_TRUE(run_elementwise(kEqualFloats, {kIs}, {place(0x2000), place(0x1000), place(0x1000)}));
  EXPECT_TRUE(run_elementwise(kProductOfBools, {}, {place(0x4000), place(0x2000), place(0x3000)}));
  EXPECT_EQ(found(0x4000), (std::vector<unsigned char>{1, 1}));
  EXPECT_TRUE(trust.is_assumed);
  EXPECT_TRUE(run_with(with_number(kIs, 2)));
  EXPECT_TRUE(found(0x3000).empty()) << "any number may be 2";
}

TEST_F(SmallKernelsTest, JoinWhatIsTrue) {
  const std::vector<const char*> data{place(0x4000), place(0x1000), place(0x2000)};
  const auto set_bools = [&](std::size_t to, std::array<char, 2> bools) {
    known.set(place(to), bools.data(), bools.size());
  };
  const auto found = [&] { return known.find(place(0x4000), 2); };
  const auto is_known = [&](std::size_t which) { return known.has_any(place(0x4000 + which), 1); };
  set_bools(0x1000, {0, 1});
  EXPECT_TRUE(run_elementwise(kNot, {0}, data));
  EXPECT_EQ(found(), (std::vector<unsigned char>{1, 0}));
  EXPECT_TRUE(run_elementwise(kOr, {0}, data));
  EXPECT_FALSE(is_known(0)) << "the other side is not known";
  EXPECT_EQ(found()[1], 1) << "which decides alone";
  set_bools(0x2000, {0, 0});
  EXPECT_TRUE(run_elementwise(kOr, {0}, data));
  EXPECT_EQ(found(), (std::vector<unsigned char>{0, 1}));
  known.forget(place(0x1000), 1);
  EXPECT_TRUE(run_elementwise(kOr, {0}, data));
  EXPECT_FALSE(is_known(0));
  EXPECT_EQ(found()[1], 1);
  EXPECT_TRUE(run_elementwise(kProductOfBools, {0}, data));
  EXPECT_EQ(found(), (std::vector<unsigned char>{0, 0})) << "which decides alone";
  known.forget(place(0x1000), 2);
  EXPECT_TRUE(run_elementwise(kNot, {0}, data));
  EXPECT_TRUE(found().empty());
}

TEST_F(SmallKernelsTest, JoinBitsOfWholeNumbers) {
  std::vector<const char*> data{place(0x4000), place(0x1000), place(0x2000)};
  set(0x1000, {6, 5});
  set(0x2000, {3, 8});
  EXPECT_TRUE(run_elementwise(kAnd, {0}, data));
  EXPECT_EQ(numbers(0x4000, 2), (Numbers{2, 0}));
  known.forget(place(0x1000), 16);
  EXPECT_TRUE(run_elementwise(kAnd, {0}, data));
  EXPECT_TRUE(numbers(0x4000, 2).empty());
  set(0x2000, {3, 0});
  EXPECT_TRUE(run_elementwise(kAnd, {0}, data));
  EXPECT_TRUE(numbers(0x4000, 1).empty());
  EXPECT_EQ(numbers(0x4008, 1), (Numbers{0})) << "which decides alone";

  // int64 & bool, as the converting kernel has it: types, then widths.
  set(0x1000, {7, 7});
  known.fill(place(0x2000), 1, 2);
  int count = 2;
  struct {
    std::array<c10::ScalarType, 4> types;
    std::array<std::uint32_t, 2> widths;
  } loads{{c10::ScalarType::Long, c10::ScalarType::Bool}, {8, 1}},
      stores{{c10::ScalarType::Long}, {}};
  int functor = 0;
  const auto run_converting = [&] {
    return run(kAndThatConverts,
               {&count, &functor, data.data(), &functor, &functor, &loads, &stores});
  };
  EXPECT_TRUE(run_converting());
  EXPECT_EQ(numbers(0x4000, 2), (Numbers{1, 1}));
  loads.types[1] = c10::ScalarType::ComplexFloat;
  EXPECT_TRUE(run_converting());
  EXPECT_TRUE(numbers(0x4000, 2).empty());
}

TEST_F(SmallKernelsTest, ForgetTheirOutputsAloneWhereTheyDoNotKnowMore) {
  set(0x1000, {3, 4});
  set(0x1010, {9});
  set(0x2000, {5, 6});
  blocks.note(place(0x1000), 16);
  EXPECT_TRUE(run_elementwise(kErrorFunction, {7}, {place(0x1000), place(0x2000)}));
  EXPECT_TRUE(numbers(0x1000, 2).empty());
  EXPECT_EQ(numbers(0x1010, 1), Numbers{9}) << "which lies behind";
  EXPECT_TRUE(run_elementwise(kAdd, {1}, {place(0x2000), place(0x1000), place(0x2000)}));
  EXPECT_TRUE(numbers(0x2000, 2).empty());
  set(0x2000, {5, 6});
  EXPECT_TRUE(run_sum(2, place(0x1000), place(0x2000)));
  EXPECT_TRUE(numbers(0x2000, 1).empty());
  EXPECT_EQ(numbers(0x2008, 1), (Numbers{6}));
}

TEST_F(SmallKernelsTest, SumWhatIsKnown) {
  set(0x1000, {3, 4, 5});
  EXPECT_TRUE(run_sum(3, place(0x1000), place(0x2000)));
  EXPECT_EQ(numbers(0x2000, 1), (Numbers{12}));
  EXPECT_TRUE(run_sum(1, place(0x1008), place(0x2000)));
  EXPECT_EQ(numbers(0x2000, 1), (Numbers{4}));
}

TEST_F(SmallKernelsTest, FindTheLargestAndTheSmallestOfWhatIsKnown) {
  set(0x1000, {-3, -4, -2});
  EXPECT_TRUE(run_sum(3, place(0x1000), place(0x2000), kMax));
  EXPECT_EQ(numbers(0x2000, 1), (Numbers{-2}));
  EXPECT_TRUE(run_sum(3, place(0x1000), place(0x2000), kMin));
  EXPECT_EQ(numbers(0x2000, 1), (Numbers{-4}));
  EXPECT_TRUE(run_sum(3, place(0x4000), place(0x2000), kMax));
  EXPECT_TRUE(numbers(0x2000, 1).empty());
}

TEST_F(SmallKernelsTest, FillWithOneNumber) {
  EXPECT_TRUE(run_elementwise(kFill, {-7}, {place(0x1000)}));
  EXPECT_EQ(numbers(0x1000, 2), (Numbers{-7, -7}));
  EXPECT_TRUE(run_elementwise(kFillBools, {1}, {place(0x1000)}));
  EXPECT_EQ(known.find(place(0x1000), 3), (std::vector<unsigned char>{1, 1, 0xff}));
}

TEST_F(SmallKernelsTest, TakeForTrueThatAllOfWhatIsNotKnownHolds) {
  char value = 0;
  EXPECT_TRUE(run_all(8, place(0x1000), place(0x2000)));
  EXPECT_FALSE(known.read(&value, place(0x2000), 1)) << "nobody computed it";
  EXPECT_EQ(value, 1);
  known.set(place(0x1000), "\1\1\0", 3);
  EXPECT_TRUE(run_all(3, place(0x1000), place(0x2000)));
  EXPECT_TRUE(known.read(&value, place(0x2000), 1));
  EXPECT_EQ(value, 0);
  EXPECT_TRUE(run_all(2, place(0x1000), place(0x2000)));
  EXPECT_TRUE(known.read(&value, place(0x2000), 1));
  EXPECT_EQ(value, 1);
}

TEST_F(SmallKernelsTest, TakeForTrueThatTwoBoolsWhichAreNotKnownHold) {
  int count = 1;
  std::array<const char*, 3> data{place(0x3000), place(0x1000), place(0x2000)};
  const std::vector<void*> arguments{&count, nullptr, data.data()};
  char value = 0;
  EXPECT_TRUE(run(kBoth, arguments));
  EXPECT_FALSE(known.read(&value, place(0x3000), 1)) << "nobody computed it";
  EXPECT_EQ(value, 1);
  known.set(place(0x1000), "\0", 1);
  EXPECT_TRUE(run(kBoth, arguments));
  known.read(&value, place(0x3000), 1);
  EXPECT_EQ(value, 0) << "one of them is known to be false";
  count = 2;
  EXPECT_TRUE(run(kBoth, arguments));
  EXPECT_TRUE(known.has_any(place(0x3000), 1));
  EXPECT_FALSE(known.has_any(place(0x3001), 1)) << "these are no check";
}

TEST_F(SmallKernelsTest, FindWhetherAnyHoldsAndAssumeNothing) {
  known.set(place(0x1000), "\0\1\0", 3);
  EXPECT_TRUE(run_all(3, place(0x1000), place(0x2000), kAny));
  EXPECT_EQ(known.find(place(0x2000), 1), std::vector<unsigned char>{1});
  EXPECT_TRUE(run_all(1, place(0x1000), place(0x2000), kAny));
  EXPECT_EQ(known.find(place(0x2000), 1), std::vector<unsigned char>{0});
  known.forget(place(0x1000), 3);
  EXPECT_TRUE(run_all(3, place(0x1000), place(0x2000), kAny));
  EXPECT_TRUE(known.find(place(0x2000), 1).empty());
}

TEST_F(SmallKernelsTest, AreChecksWhereTheyTellWhetherSomethingHolds) {
  EXPECT_TRUE(small_kernel(kAll).is_check);
  EXPECT_TRUE(small_kernel(kBoth).is_check);
  EXPECT_FALSE(small_kernel(kAnd).is_check);
  EXPECT_FALSE(small_kernel(kOr).is_check);
}

TEST_F(SmallKernelsTest, AreNoneWhereNothingIsAsExpected) {
  EXPECT_FALSE(run_elementwise(kAdd, {1}, {place(0x10), place(0x1000), place(0x2000)}));
  EXPECT_FALSE(run_sum(3, place(0x1000), place(0x10)));
  EXPECT_FALSE(run_sum(0, place(0x1000), place(0x2000)));
  int count = 1;
  EXPECT_FALSE(run("_ZN2at6native18elementwise_kernelILi128ELi4EZ", {&count}));
  EXPECT_EQ(small_kernel("of_somebody_else").run, nullptr);
  const std::string casts =
      "_ZN2at6native27unrolled_elementwise_kernelINS0_15CUDAFunctor_"
      "addIlEESt5arrayIPcLm3EELi4E23Triv"
      "ialOffsetCalculatorILi2EjES8_NS0_6memory12LoadWithCastILi2EEENS9_"
      "13StoreWithCastILi1EEEEEviT_";
  EXPECT_EQ(small_kernel(casts.c_str()).run, small_kernel(kErrorFunction).run)
      << "which computes nothing where numbers are converted";
}

}  // namespace
}  // namespace headroom::dry_run
