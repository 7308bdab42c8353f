// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/threads.h"

#include <gtest/gtest.h>

#include <numeric>

#include "src/ptx/accesses.h"
#include "tests/ptx/kernel_text.h"

namespace headroom::ptx {
namespace {

bool runs(const std::string& body, Made& made) {
  return run(kernel_of(body + kStore), made.launch, made.memory, kMany);
}

TEST(Threads, RunEachBlock) {
  Made made(3, 64);
  ASSERT_TRUE(runs("\tmad.lo.s32 %r9, %r3, 100, %r2;\n", made));
  for (const std::size_t i : {0, 63, 64, 191}) {
    EXPECT_EQ(made.written(i), i / 64 * 100 + i % 64);
  }
}

TEST(Threads, LoadWhatIsKnown) {
  Made made(1, 32);
  made.read_from({5, 6, 7, 8});
  const std::string load = "\tand.b32 %r4, %r2, 3;\n\tmad.wide.s32 %rd4, %r4, 4, %rd1;\n";
  ASSERT_TRUE(runs(load + "\tld.global.b32 { %r9 }, [ %rd4 + 0 ];\n", made));
  EXPECT_EQ(made.written(6), 7U);
  ASSERT_TRUE(runs(load + "\tld.global.b32 { %r9 }, [ %rd4 + 8 ];\n", made));
  EXPECT_FALSE(made.written(0));  // the last two threads' are none of the tensor
}

TEST(Threads, KeepWhatAGuardLeavesOut) {
  Made made(1, 32);
  ASSERT_TRUE(
      runs("\tsetp.lt.u32 %p1, %r2, 4;\n\tmov.b32 %r9, 1;\n\t@%p1 mov.b32 %r9, 2;\n", made));
  EXPECT_EQ(made.written(3), 2U);
  EXPECT_EQ(made.written(4), 1U);
}

TEST(Threads, DoNotKnowWhatAGuardDependsOnThatIsNot) {
  Made made(1, 32);
  ASSERT_TRUE(
      runs("\tld.global.b32 %r4, [%rd1];\n\tsetp.lt.u32 %p1, %r4, 4;\n"
           "\tmov.b32 %r9, 1;\n\t@%p1 mov.b32 %r9, 2;\n",
           made));
  EXPECT_FALSE(made.written(0));
}

TEST(Threads, GoRoundALoop) {
  Made made(1, 32, 10);
  ASSERT_TRUE(
      runs("\tmov.b32 %r9, 0;\n\tmov.b32 %r4, 0;\n"
           "$L__BB0_1:\n"
           "\tadd.s32 %r9, %r9, %r4;\n\tadd.s32 %r4, %r4, 1;\n"
           "\tsetp.lt.s32 %p1, %r4, %r1;\n\t@%p1 bra $L__BB0_1;\n",
           made));
  EXPECT_EQ(made.written(0), 45U);
}

TEST(Threads, EndALoopThatHasNoEnd) {
  Made made(1, 32);
  EXPECT_FALSE(runs("$L__BB0_1:\n\tadd.s32 %r9, %r9, 1;\n\tbra.uni $L__BB0_1;\n", made));
}

TEST(Threads, GiveUpWhereTheyGoDifferentWays) {
  Made made(1, 32);
  EXPECT_FALSE(runs("$L__BB0_1:\n\tsetp.lt.u32 %p1, %r2, 4;\n\t@%p1 bra $L__BB0_1;\n", made));
}

TEST(Threads, GiveUpWhereMemoryIsWrittenOtherwise) {
  Made made(1, 32);
  EXPECT_FALSE(runs("\tcp.async.cg.shared.global [%r2], [%rd1], 16;\n", made));
  EXPECT_FALSE(runs("\tst.global.b32 [%rd1], %r2;\n", made));  // no tensor that is followed
}

// The places of shared memory that no thread wrote matter to none.
TEST(Threads, ShareMemory) {
  Made made(1, 64);
  ASSERT_TRUE(
      runs("\tshl.b32 %r4, %r2, 2;\n\txor.b32 %r5, %r4, 4;\n"
           "\tmov.b32 %r6, global_smem;\n\tadd.s32 %r7, %r6, %r4;\n"
           "\tadd.s32 %r8, %r6, %r5;\n"
           "\tsetp.lt.u32 %p1, %r2, 32;\n\t@%p1 st.shared.b32 [ %r7 + 0 ], %r2;\n"
           "\tbar.sync 0;\n\tld.shared.b32 %r9, [%r8];\n",
           made));
  EXPECT_EQ(made.written(6), 7U);
  EXPECT_EQ(made.written(7), 6U);
}

TEST(Threads, TellEachOther) {
  Made made(1, 64);
  ASSERT_TRUE(runs("\tshfl.sync.bfly.b32 %r9, %r2, 16, 31, -1;\n", made));
  EXPECT_EQ(made.written(33), 49U);
  ASSERT_TRUE(runs("\tshfl.sync.up.b32 %r9, %r2, 1, 0, -1;\n", made));
  EXPECT_EQ(made.written(0), 0U);
  EXPECT_EQ(made.written(33), 32U);
  ASSERT_TRUE(runs("\tshfl.sync.down.b32 %r9, %r2, 2, 31, -1;\n", made));
  EXPECT_EQ(made.written(1), 3U);
  EXPECT_EQ(made.written(31), 31U);
  ASSERT_TRUE(runs("\tshfl.sync.idx.b32 %r9|%p1, %r2, 5, 31, -1;\n", made));
  EXPECT_EQ(made.written(40), 37U);
  ASSERT_TRUE(runs("\tredux.sync.add.s32 %r9, %r2, -1;\n", made));
  EXPECT_EQ(made.written(0), 31U * 32 / 2);
}

// Element (row, column) of the second matrix is 100 + 8 row + column.
TEST(Threads, LoadMatrices) {
  const std::string body =
      "\tmov.b32 %r6, global_smem;\n\tshl.b32 %r4, %r2, 1;\n\tadd.s32 %r7, %r6, %r4;\n"
      "\tadd.s32 %r5, %r2, 36;\n\tcvt.u16.u32 %rs1, %r5;\n\tst.shared.b16 [%r7], %rs1;\n"
      "\tbar.sync 0;\n\tshl.b32 %r8, %r2, 4;\n\tand.b32 %r8, %r8, 255;\n"
      "\tadd.s32 %r8, %r6, %r8;\n";
  const auto load = [&](const std::string& form, Made& made) {
    return runs(
        body + "\tldmatrix.sync.aligned.m8n8.x2" + form + ".shared.b16 {%r10, %r9}, [%r8];\n",
        made);
  };
  Made made(1, 128);
  ASSERT_TRUE(load("", made));
  EXPECT_EQ(made.written(6), 100U + 8 + 4 + ((100U + 8 + 5) << 16));
  ASSERT_TRUE(load(".trans", made));
  EXPECT_EQ(made.written(6), 100U + 8 * 4 + 1 + ((100U + 8 * 5 + 1) << 16));
}

TEST(Threads, AddOneAfterAnother) {
  Made made(2, 32);
  made.read_from({7});
  ASSERT_TRUE(runs("\tatom.global.gpu.relaxed.add.u32 %r9, [ %rd1 + 0 ], 2;\n", made));
  EXPECT_EQ(made.written(0), 7U);
  EXPECT_EQ(made.written(63), 7U + 2 * 63);
  ASSERT_TRUE(runs("\tmov.b32 %r9, 1;\n\tred.global.add.u32 [ %rd1 + 0 ], 1;\n", made));
  ASSERT_TRUE(runs("\tatom.global.release.exch.b32 %r9, [ %rd1 + 0 ], %r2;\n", made));
  EXPECT_EQ(made.written(0), 7U + 2 * 64 + 64);
  EXPECT_EQ(made.written(1), 0U);
}

TEST(Accesses, AreByWhatAddressesAreMadeOf) {
  const Accesses found =
      accesses(kernel_of("\tmul.wide.s32 %rd4, %r2, 4;\n\tadd.s64 %rd5, %rd1, %rd4;\n"
                         "\tld.global.b32 %r9, [%rd5];\n" +
                         std::string(kStore)));
  EXPECT_EQ(found.loads[0], 1);
  EXPECT_FALSE(found.stores[0]);
  EXPECT_EQ(found.loads[1], 0);
  EXPECT_TRUE(found.stores[1]);
}

// Where a guard is inside of a branch, it is not known which threads load. That some do, is.
TEST(Accesses, AreWhereBranchesLeadToo) {
  const auto kernel = parse(kernel_text("\t@%p1 bra $L__BB0_1;\n\t@%p2 ld.global.b32 %r9, [%rd1];\n"
                                        "$L__BB0_1:\n"),
                            "made");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(accesses(*kernel).loads[0], 1);
}

// A loop within a loop goes through it once, as do two loads in one loop.
TEST(Accesses, AreAsManyAsTheLoopsThatLoad) {
  const std::string load = "\tld.global.b32 %r9, [%rd1];\n";
  const auto loop = [](const std::string& number, const std::string& body) {
    const std::string label = "$L__BB0_" + number;
    return label + ":\n" + body + "\t@%p1 bra " + label + ";\n";
  };
  const auto loads = [](const std::string& body) {
    return accesses(kernel_of(body + kStore)).loads[0];
  };
  EXPECT_EQ(loads(load + load), 1);
  EXPECT_EQ(loads(loop("1", load + load)), 1);
  EXPECT_EQ(loads(loop("1", loop("2", load))), 1);
  EXPECT_EQ(loads(load + loop("1", load) + loop("2", load)), 2);
}

}  // namespace
}  // namespace headroom::ptx
