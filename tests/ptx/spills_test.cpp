// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/spills.h"

#include <gtest/gtest.h>

#include "tests/ptx/kernel_text.h"

namespace headroom::ptx {
namespace {

std::string load(int number) {
  return "\tld.global.b32 %f" + std::to_string(number) + ", [%rd1];\n";
}
std::string add_up(int number) { return "\tadd.f32 %f0, %f0, %f" + std::to_string(number) + ";\n"; }

std::int64_t needed(const std::string& body) { return registers_at_once(kernel_of(body)); }

double spilled(int numbers) {
  std::string body;
  for (int i = 0; i < numbers; ++i) body += load(i);
  for (int i = 1; i < numbers; ++i) body += add_up(i);
  Kernel kernel = kernel_of(body + kStore);
  EXPECT_EQ(count_spills(kernel), numbers > 765 ? 4 * (registers_at_once(kernel) - 255) : 0);
  double bytes = 0;
  for (const Instruction& one : kernel.instructions) bytes += one.count.spilled_bytes;
  return bytes;
}

// Eight numbers and their sum; one, the sum and an address of 64 bits.
TEST(Spills, AreOfRegistersThatAreReadLaterOn) {
  std::string first;
  std::string then;
  std::string in_turn;
  for (int i = 1; i <= 8; ++i) {
    first += load(i);
    then += add_up(i);
    in_turn += load(i) + add_up(i);
  }
  EXPECT_EQ(needed(first + then), 9);
  EXPECT_EQ(needed(in_turn), 4);
}

TEST(Spills, AreOfWhatALoopReadsToItsEnd) {
  const std::string other = load(2) + add_up(2) + load(3) + add_up(3);
  const auto loop = [](const std::string& body) {
    return load(1) + "$L__BB0_1:\n" + body + "\t@%p1 bra $L__BB0_1;\n";
  };
  EXPECT_EQ(needed(loop(add_up(1) + other)), 5);
  EXPECT_EQ(needed(loop(other + add_up(1))), 5);
}

TEST(Spills, AreNoneUntilFarMoreAreNeededThanThereAre) {
  EXPECT_EQ(spilled(700), 0);
  const double bytes = spilled(1000);
  EXPECT_NEAR(bytes, 32 * 16 * 1000, 32 * 16 * 10);
  EXPECT_NEAR(spilled(2000), 2 * bytes, 32 * 16 * 10);
}

}  // namespace
}  // namespace headroom::ptx
