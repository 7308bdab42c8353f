// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.11 makes them, in one block of 256 threads.
#include "src/dry_run/small_random.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "src/dry_run/philox.h"
#include "tests/dry_run/small_tables.h"

namespace headroom::dry_run {
namespace {

/// Of a distribution and its kernel's name: what is drawn, how many at once, the type of results.
std::string drawing(const std::string& drawn, const std::string& named, const std::string& result) {
  return "_ZN2at6native43distribution_elementwise_grid_stride_kernelI" + drawn +
         "EZNS0_9templates4cuda" + named +
         "EUlP24curandStatePhilox4_32_10E0_ZNS1_27distribution_nullary_kernelI" + result +
         "EEvSA_SG_RKT3_T4_EUli" + drawn.substr(0, 1) + "E_EEvlNS_15PhiloxCudaStateESF_SG_";
}
const std::string kFromZeroToOne = drawing(
    "fLi4", "21uniform_and_transformIffPNS_17CUDAGeneratorImplEZZZNS4_14uniform_kernelIS7_EE",
    "ff");
const std::string kDice =
    drawing("jLi4", "21random_from_to_kernelIPNS_17CUDAGeneratorImplEEEv", "lj");
const char* const kOfSameKeys =
    "_ZN44_GLOBAL__N__19e67faa_11_Randperm_cu_4012db6537randperm_handle_duplicate_keys_kernelIiN2at"
    "6native10OpaqueTypeILi8EEEEEvPT_PT0_S6_iNS1_15PhiloxCudaStateE";

class SmallRandom : public testing::Test {
 protected:
  /// {to, stride, what is behind}.
  bool draw(const std::string& name, std::int64_t count, std::vector<std::uint32_t> behind) {
    function = {0, 0};
    const char* to = table(0x1000);
    std::memcpy(function.data(), &to, sizeof(to));
    function.insert(function.end(), behind.begin(), behind.end());
    std::vector<void*> arguments{&count, generator.data(), nullptr, function.data()};
    EXPECT_TRUE(is_random(name.c_str()));
    return run_random(name.c_str(), arguments.data(), 256, known, &is_table);
  }
  bool draw_floats(std::int64_t count) {
    const std::uint32_t one = std::bit_cast<std::uint32_t>(1.0F);
    return draw(kFromZeroToOne, count, {4, one, 0, one});
  }

  std::array<std::uint64_t, 3> generator{};  // seed, offset, whether a graph is captured
  std::vector<std::uint32_t> function;
  KnownBytes known;
};

// The first of torch.rand() behind torch.manual_seed(0), on any GPU.
TEST_F(SmallRandom, AreWhatGpusDraw) {
  EXPECT_TRUE(draw_floats(3));
  const auto found = table_of<float>(known, 0x1000, 3);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NEAR(found[0], 0.3990F, 1e-4);
  EXPECT_NEAR(found[1], 0.5167F, 1e-4);
  EXPECT_NEAR(found[2], 0.0249F, 1e-4);
}

TEST_F(SmallRandom, GoOnWhereTheGeneratorStands) {
  EXPECT_TRUE(draw_floats(1025));
  const auto at_once = table_of<float>(known, 0x1000, 1025);
  generator[1] = 4;
  EXPECT_TRUE(draw_floats(1));
  EXPECT_EQ(table_of<float>(known, 0x1000, 1)[0], at_once[1024])
      << "of which each call of a thread gives four";
}

TEST_F(SmallRandom, AreOfARange) {
  EXPECT_TRUE(draw(kDice, 100, {8, 0, 6, 0, 1, 0}));
  for (const auto number : table_of<std::int64_t>(known, 0x1000, 100)) {
    EXPECT_GE(number, 1);
    EXPECT_LE(number, 6);
  }
}

TEST_F(SmallRandom, AreNotFollowedWhereTheyAreManyOrOfAGraph) {
  EXPECT_FALSE(draw_floats(5000));
  generator[2] = std::uint64_t{1} << 32U;
  EXPECT_FALSE(draw_floats(3));
}

TEST_F(SmallRandom, PermutationsAreMixedAnewWhereKeysAreTheSame) {
  const char* keys = table(0x1000);
  const char* values = table(0x2000);
  int mask = -1;
  int count = 3;
  std::vector<void*> arguments{&keys, &values, &mask, &count};
  put_table<std::int64_t>(known, 0x2000, {2, 0, 1});
  put_table<int>(known, 0x1000, {3, 5, 9});
  EXPECT_TRUE(run_random(kOfSameKeys, arguments.data(), 256, known, &is_table));
  EXPECT_FALSE(table_of<std::int64_t>(known, 0x2000, 3).empty());
  put_table<int>(known, 0x1000, {3, 3, 9});
  EXPECT_TRUE(run_random(kOfSameKeys, arguments.data(), 256, known, &is_table));
  EXPECT_TRUE(table_of<std::int64_t>(known, 0x2000, 3).empty());
}

// Of the authors' own vectors (Random123, kat_vectors).
TEST(Philox, IsThatOfItsAuthors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (PhiloxWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff),
            (PhiloxWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

}  // namespace
}  // namespace headroom::dry_run
