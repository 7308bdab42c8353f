// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/slice.h"

#include <gtest/gtest.h>

#include "tests/ptx/kernel_text.h"

namespace headroom::ptx {
namespace {

constexpr auto kBfloat16 = static_cast<std::size_t>(dry_run::Precision::bfloat16);
constexpr double kFlops = 2 * 16 * 8 * 16;  // of one of these
const std::string kProduct =
    "\tmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r40}, {%r41}, {%r42}, {%r40};\n";

/// `begin`, then products as often as %r4 says.
std::string products(const std::string& begin) {
  return begin +
         "\tmov.b32 %r5, 0;\n"
         "$L__BB0_1:\n" +
         kProduct + "\tadd.s32 %r5, %r5, 1;\n\tsetp.lt.s32 %p1, %r5, %r4;\n\t@%p1 bra $L__BB0_1;\n";
}

std::optional<double> flops(const std::string& body, Made& made) {
  const auto counted = count(slice(kernel_of(body + kStore)), made.launch, made.memory);
  if (!counted) return std::nullopt;
  return counted->flops[kBfloat16];
}

TEST(Slice, CountsOfEachWarpOfEachBlock) {
  Made made(6, 64, 10);
  EXPECT_EQ(flops(products("\tmov.b32 %r4, %r1;\n"), made), 6 * 2 * 10 * kFlops);
}

TEST(Slice, KeepsWhatDecidesAlone) {
  const Slice made = slice(kernel_of(products("\tmov.b32 %r4, %r1;\n") + kStore));
  EXPECT_FALSE(made.is_by_thread);
  EXPECT_FALSE(made.has_loads);
  for (const Instruction& instruction : made.kernel.instructions) {
    EXPECT_NE(instruction.operation, Operation::store);
  }
}

TEST(Slice, CountsInstructionsBesideMoves) {
  Made made(1, 32);
  const auto counted =
      count(slice(kernel_of("\tmov.b32 %r4, 1;\n\tadd.s32 %r9, %r4, 1;\n" + kProduct)), made.launch,
            made.memory);
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->issued, 3 + 2 + 1);  // parameters, these, the end
}

TEST(Slice, GoesByNumbersThatAreKnown) {
  Made made(4, 32);
  const std::string by_block = "\tmad.wide.s32 %rd4, %r3, 4, %rd1;\n\tld.global.b32 %r4, [%rd4];\n";
  EXPECT_FALSE(flops(products(by_block), made));
  made.read_from({1, 2, 3, 10});
  EXPECT_EQ(flops(products(by_block), made), 16 * kFlops);
}

TEST(Slice, CountsWarpsThatDiffer) {
  Made made(1, 128);
  const std::string by_warp = "\tshr.u32 %r4, %r2, 5;\n\tadd.s32 %r4, %r4, 1;\n";
  EXPECT_EQ(flops(products(by_warp), made), (1 + 2 + 3 + 4) * kFlops);
}

// Blocks that take turns with their work, as attention's over queries: no multiple of the period.
TEST(Slice, SamplesManyBlocksEvenly) {
  Made made(64 * 256, 32);
  const std::string by_block = "\tand.b32 %r4, %r3, 63;\n\tadd.s32 %r4, %r4, 1;\n";
  const double expected = 64 * 256 * 32.5 * kFlops;
  const auto counted = flops(products(by_block), made);
  ASSERT_TRUE(counted);
  EXPECT_NEAR(*counted, expected, 0.02 * expected);
}

TEST(Slice, DoesNotKnowWhatSharedMemorySays) {
  Made made(1, 32);
  EXPECT_FALSE(flops(products("\tmov.b32 %r6, global_smem;\n\tst.shared.b32 [%r6], 3;\n"
                              "\tld.shared.b32 %r4, [%r6];\n"),
                     made));
}

TEST(Slice, GivesUpOnALoopWithoutEnd) {
  Made made(1, 32);
  EXPECT_FALSE(flops("$L__BB0_1:\n" + kProduct + "\tbra.uni $L__BB0_1;\n", made));
}

// Blackwell's: one thread of one warp has the product of 128 x 64 and 16 computed for all of them.
TEST(Slice, CountsProductsByTheirDescriptor) {
  Made made(2, 128, 10);
  const std::string product =
      "\tshfl.sync.idx.b32 %r10, %r2, 0, 31, -1;\n\tsetp.ne.s32 %p2, %r10, 0;\n"
      "\tmov.b32 %r5, 0;\n"
      "$L__BB0_1:\n"
      "\t@%p2 bra $L__BB0_2;\n"
      "\telect.sync %r11|%p3, -1;\n"
      "\tmov.b32 %r12, 0x8100490;\n"
      "\t@%p3 tcgen05.mma.cta_group::1.kind::f16 [ %r13 + 0 ], %rd4, %rd5, %r12, %p4;\n"
      "$L__BB0_2:\n"
      "waitLoop:\n\tmbarrier.try_wait.parity.shared.b64 %p5, [%r14], %r15;\n"
      "\t@!%p5 bra.uni waitLoop;\n"
      "\tadd.s32 %r5, %r5, 1;\n\tsetp.lt.s32 %p1, %r5, %r1;\n\t@%p1 bra $L__BB0_1;\n";
  EXPECT_EQ(flops(product, made), 2 * 10 * 2.0 * 128 * 64 * 16);
}

}  // namespace
}  // namespace headroom::ptx
