// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/branches.h"

#include <gtest/gtest.h>

#include "tests/ptx/kernel_text.h"

namespace headroom::ptx {
namespace {

/// Threads 0 to 3 jump to 1, the others do not.
const std::string kDiffer = "\tmov.b32 %r9, 0;\n\tsetp.lt.u32 %p1, %r2, 4;\n";

void expect_written(const std::string& body, std::uint32_t third, std::uint32_t fourth) {
  Made made(1, 32);
  ASSERT_TRUE(run(kernel_of(kDiffer + body + kStore), made.launch, made.memory, kMany));
  EXPECT_EQ(made.written(3), third);
  EXPECT_EQ(made.written(4), fourth);
}

TEST(Branches, JumpOverAFew) {
  expect_written("\t@%p1 bra $L__BB0_1;\n\tmov.b32 %r9, 5;\n$L__BB0_1:\n", 0, 5);
  expect_written("\t@!%p1 bra $L__BB0_1;\n\tmov.b32 %r9, 5;\n$L__BB0_1:\n", 5, 0);
}

TEST(Branches, ChooseBetweenTwo) {
  expect_written(
      "\t@%p1 bra $L__BB0_1;\n\tmov.b32 %r9, 5;\n\tbra.uni $L__BB0_2;\n"
      "$L__BB0_1:\n\tmov.b32 %r9, 6;\n$L__BB0_2:\n",
      6, 5);
}

TEST(Branches, SayItWithTwoJumps) {
  expect_written(
      "\t@%p1 bra $L__BB0_2;\n\tbra.uni $L__BB0_1;\n"
      "$L__BB0_2:\n\tmov.b32 %r9, 6;\n\tbra.uni $L__BB0_3;\n"
      "$L__BB0_1:\n\tmov.b32 %r9, 5;\n$L__BB0_3:\n",
      6, 5);
}

TEST(Branches, MeetFurtherOn) {
  expect_written(
      "\tbra.uni $L__BB0_1;\n"
      "$L__BB0_2:\n\tadd.s32 %r9, %r9, 1;\n\tbra.uni $L__BB0_3;\n"
      "$L__BB0_1:\n\t@%p1 bra $L__BB0_2;\n\tmov.b32 %r9, 5;\n\tbra.uni $L__BB0_2;\n"
      "$L__BB0_3:\n",
      1, 6);
}

TEST(Branches, LeaveAloneWhatOthersJumpInto) {
  Made made(1, 32);
  const Kernel kernel = kernel_of(kDiffer +
                                  "\t@%p1 bra $L__BB0_2;\n$L__BB0_1:\n\tadd.s32 %r9, %r9, 1;\n"
                                  "$L__BB0_2:\n\tsetp.eq.s32 %p2, %r9, 1;\n"
                                  "\t@%p2 bra $L__BB0_1;\n" +
                                  kStore);
  EXPECT_FALSE(run(kernel, made.launch, made.memory, kMany));
}

// Which threads do what has a guard of its own there is not known.
TEST(Branches, GiveUpOnGuardsInside) {
  for (const std::string inside :
       {"st.global.b32 [%rd2], 7;", "atom.global.add.u32 %r9, [%rd2], 1;"}) {
    Made made(1, 32);
    EXPECT_FALSE(
        run(kernel_of(kDiffer + "\tsetp.lt.u32 %p2, %r2, 8;\n\t@%p1 bra $L__BB0_1;\n\t@%p2 " +
                      inside + "\n$L__BB0_1:\n" + kStore),
            made.launch, made.memory, kMany));
  }
}

// An assertion is taken to hold, whatever it is about.
TEST(Branches, LeadToNoTrap) {
  const std::string unknown = "\tld.global.b32 %r4, [%rd1];\n\tsetp.lt.u32 %p1, %r4, 4;\n";
  for (const std::string assertion :
       {"\t@%p1 bra $L__BB0_2;\n\tbra.uni $L__BB0_1;\n$L__BB0_2:\n", "\t@!%p1 bra $L__BB0_1;\n"}) {
    Made made(1, 32);
    ASSERT_TRUE(run(kernel_of(unknown + assertion + "\tmov.b32 %r9, 7;\n" + kStore +
                              "\tret;\n$L__BB0_1:\n\tcall.uni __assertfail, (param0);\n\ttrap;\n"),
                    made.launch, made.memory, kMany));
    EXPECT_EQ(made.written(0), 7U);
  }
}

}  // namespace
}  // namespace headroom::ptx
