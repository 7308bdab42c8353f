// SPDX-License-Identifier: Apache-2.0
// Launches as PyTorch 2.1 and 2.11 make them.
#include "src/dry_run/small_softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/dry_run/small_tables.h"

namespace headroom::dry_run {
namespace {

std::string softmax(const std::string& types, bool is_logarithm) {
  return "_ZN43_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f6320softmax_warp_forwardI" + types +
         "Li2ELb" + (is_logarithm ? "1" : "0") + "ELb0EEEvPT0_PKT_iiiPKbib";
}

class SmallSoftmax : public testing::Test {
 protected:
  bool run(const std::string& name, int rows, int length) {
    const char* to = table(0x2000);
    const char* from = table(0x1000);
    int step = length;
    std::vector<void*> arguments{&to, &from, &rows, &step, &length};
    EXPECT_TRUE(is_softmax(name.c_str())) << name;
    return run_softmax(name.c_str(), arguments.data(), known, &is_table);
  }
  template <class T>
  std::vector<T> read(std::size_t count) {
    std::vector<T> numbers(count);
    EXPECT_FALSE(known.read(numbers.data(), table(0x2000), count * sizeof(T)));
    return numbers;
  }

  KnownBytes known;
};

TEST_F(SmallSoftmax, IsReadAsEquallyProbable) {
  EXPECT_TRUE(run(softmax("fff", /*is_logarithm=*/false), 2, 4));
  EXPECT_EQ(read<float>(9), (std::vector<float>{.25, .25, .25, .25, .25, .25, .25, .25, 0}));
  EXPECT_TRUE(run(softmax("ddd", /*is_logarithm=*/true), 1, 3));
  EXPECT_EQ(read<double>(3), std::vector<double>(3, std::log(1.0 / 3)));
}

TEST_F(SmallSoftmax, IsOfTheTypeThatIsWritten) {
  EXPECT_TRUE(run(softmax("N3c104HalfES2_f", /*is_logarithm=*/false), 1, 2));
  EXPECT_EQ(read<std::uint16_t>(2), std::vector<std::uint16_t>(2, 0x3800));
  EXPECT_TRUE(run(softmax("N3c108BFloat16Eff", /*is_logarithm=*/false), 1, 2));
  EXPECT_EQ(read<float>(2), std::vector<float>(2, .5));
}

TEST_F(SmallSoftmax, ForgetsWhatWasThere) {
  known.fill(table(0x2000), 1, 8);
  EXPECT_TRUE(run(softmax("fff", /*is_logarithm=*/false), 1, 1));
  EXPECT_EQ(known.find(table(0x2000), 8).size(), 8U);
  EXPECT_TRUE(known.find(table(0x2000), 4).empty());
}

}  // namespace
}  // namespace headroom::dry_run
