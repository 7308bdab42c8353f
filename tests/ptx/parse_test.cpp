// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/ptx/kernel_text.h"

namespace headroom::ptx {
namespace {

Instruction first(const std::string& statement) {
  const Kernel kernel = kernel_of("\t" + statement + "\n");
  return kernel.instructions.at(5);  // behind those that every kernel begins with
}

TEST(Parse, HasParametersAndTheirBytes) {
  const Kernel kernel = kernel_of("");
  EXPECT_EQ(kernel.parameter_bytes, (std::vector<int>{8, 8, 4}));
  EXPECT_EQ(kernel.instructions.back().operation, Operation::end);
}

TEST(Parse, ReadsLinesThatEndWithZeros) {
  std::string text = kernel_text("");
  for (char& c : text) c = c == '\n' ? '\0' : c;
  EXPECT_TRUE(parse(text, "made"));
}

TEST(Parse, HasNoKernelOfAnotherName) {
  EXPECT_FALSE(parse(kernel_text(""), "mad"));
  EXPECT_FALSE(
      parse("\x7f"
            "ELF",
            "made"));
  EXPECT_FALSE(parse("", "made"));
}

TEST(Parse, RefusesAJumpToNowhere) {
  EXPECT_FALSE(parse(kernel_text("\tbra \t$L__BB0_1;\n"), "made"));
}

// Inline assembly has scopes, and labels in them.
TEST(Parse, JumpsInsideOfAScope) {
  const Kernel kernel = kernel_of(
      "\t{\n\t@%p1 bra skip;\n\tbar.sync 0;\n\tbar.sync 0;\n\tbra.uni $L__BB0_1;\n\tskip:\n\t}\n"
      "\t{\n\t@%p1 bra skip;\n\tbar.sync 0;\n\tbra.uni $L__BB0_1;\n\tskip:\n\t}\n"
      "$L__BB0_1:\n");
  EXPECT_EQ(kernel.instructions[5].target, 9U);
  EXPECT_EQ(kernel.instructions[9].target, 12U);
  EXPECT_EQ(kernel.instructions[11].target, 12U);
}

TEST(Parse, ReadsAGuardAndAVector) {
  const auto load = first("@!%p1 ld.global.L1::evict_last.v2.b32 { %r4, %r5 }, [ %rd1 + 16 ];");
  EXPECT_EQ(load.operation, Operation::load);
  EXPECT_EQ(load.space, Space::global);
  EXPECT_TRUE(load.guard.is_negated);
  EXPECT_EQ(load.to.size(), 2U);
  EXPECT_EQ(load.from.size(), 1U);
  EXPECT_EQ(load.offset, 16);
}

TEST(Parse, ReadsNumbers) {
  EXPECT_EQ(first("mov.b32 %r4, -1;").from[0].value, ~std::uint64_t{0});
  EXPECT_EQ(first("mov.b32 %r4, 0x1F;").from[0].value, 31U);
  EXPECT_EQ(first("mov.b32 %r4, 0f3F800000;").from[0].value, 0x3f800000U);
  EXPECT_EQ(first("prmt.b32 %r4, %r1, %r2, 0x3340U;").from[2].value, 0x3340U);
  EXPECT_EQ(first("mov.b32 %r4, global_smem;").from[0].value, 0U);
}

TEST(Parse, SkipsCommentsScopesAndDirectives) {
  const Kernel plain = kernel_of("\tadd.s32 %r4, %r1, 1;\n");
  const Kernel kernel = kernel_of(
      "\t{ // callseq 0, 0\n"
      "\t.reg .b32 temp;\n"
      "$L__BB0_9:                              // %a;b\n"
      "\tadd.s32 %r4, %r1, 1; // bra $L__BB0_9;\n"
      "\t}\n");
  EXPECT_EQ(kernel.instructions.size(), plain.instructions.size());
}

TEST(Parse, CountsProductsOfAWarp) {
  const auto flops = [](const std::string& statement, dry_run::Precision precision) {
    return first(statement).count.flops.at(static_cast<std::size_t>(precision));
  };
  EXPECT_EQ(flops("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r4}, {%r5}, {%r6}, {%r4};",
                  dry_run::Precision::bfloat16),
            2 * 16 * 8 * 16);
  EXPECT_EQ(flops("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%r4}, %rd1, %rd2, 1, 1, 1;",
                  dry_run::Precision::float16),
            2 * 64 * 128 * 16 / 4);
  EXPECT_EQ(flops("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r4}, {%r5}, {%r6}, {%r4};",
                  dry_run::Precision::tensorfloat32),
            2 * 16 * 8 * 8);
  EXPECT_EQ(first("add.s32 %r4, %r1, 1;").count.issued, 1);
  EXPECT_EQ(first("mov.b32 %r4, %r1;").count.issued, 0);
}

// 32 bytes a thread at the least, as memory is read by sectors.
TEST(Parse, SaysHowMuchAWarpReaches) {
  const auto reached = [](const std::string& text) { return first(text).count.reached_bytes; };
  EXPECT_EQ(reached("ld.global.b32 %r4, [%rd1];"), 32 * 32);
  EXPECT_EQ(reached("ld.global.L1::evict_last.L2::cache_hint.v8.b64 {%rd4}, [%rd1], %rd2;"),
            32 * 64);
  EXPECT_EQ(reached("st.global.v2.b32 [%rd1], {%r1, %r2};"), 32 * 32);
  EXPECT_EQ(reached("cp.async.cg.shared.global [%r1], [%rd1], 16;"), 32 * 32);
  EXPECT_EQ(reached("ld.shared.b32 %r4, [%r1];"), 0);
  EXPECT_EQ(reached("ld.param.b64 %rd1, [made_param_0];"), 0);
  EXPECT_EQ(reached("cp.async.wait_group 2;"), 0);
  EXPECT_GT(reached("cp.async.bulk.shared::cluster.global [%r1], [%rd1], %r2, [%r3];"), 1e300);
}

// What rounds otherwise than C++ does, or carries, is not followed.
TEST(Parse, LeavesOutWhatItDoesNotKnow) {
  for (const char* statement :
       {"add.cc.s32 %r4, %r1, 1;", "add.sat.s32 %r4, %r1, 1;", "fma.rm.f32 %r4, %r1, %r1, %r1;",
        "max.NaN.f32 %r4, %r1, %r1;", "ex2.approx.ftz.f32 %r4, %r1;", "made.up.b32 %r4, %r1;"}) {
    EXPECT_EQ(first(statement).operation, Operation::unknown) << statement;
  }
  EXPECT_EQ(first("atom.global.gpu.add.f32 %r4, [%rd1], %r1;").operation, Operation::effect);
  EXPECT_EQ(first("cp.async.cg.shared.global [%r1], [%rd1], 16;").operation, Operation::effect);
}

}  // namespace
}  // namespace headroom::ptx
