// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>

#include "tests/ptx/kernel_text.h"

namespace headroom::ptx {
namespace {

/// What %r9 is behind these statements, in one thread. Nothing: it is not known.
std::optional<std::uint32_t> result_of(const std::string& statements, std::uint32_t number = 0) {
  Made made(1, 32, number);
  const Kernel kernel = kernel_of("\t" + statements + "\n" + kStore);
  EXPECT_TRUE(run(kernel, made.launch, made.memory, kMany)) << statements;
  return made.written(0);
}

struct Case {
  std::string statements;
  std::uint32_t expected;
};

constexpr std::uint32_t minus(std::uint32_t number) { return ~number + 1; }
std::uint32_t bits_of(float number) { return std::bit_cast<std::uint32_t>(number); }

class Arithmetic : public testing::TestWithParam<Case> {};

TEST_P(Arithmetic, IsAsTheManualSays) {
  EXPECT_EQ(result_of(GetParam().statements), GetParam().expected) << GetParam().statements;
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, Arithmetic,
    testing::Values(
        Case{"add.s32 %r9, -3, 5;", 2}, Case{"sub.s32 %r9, 3, 5;", minus(2)},
        Case{"mul.lo.s32 %r9, -3, 5;", minus(15)},
        Case{"mul.hi.u32 %r9, 0xFFFFFFFF, 0xFFFFFFFF;", 0xfffffffe},
        Case{"mul.hi.s32 %r9, -2, 3;", minus(1)}, Case{"mad.lo.s32 %r9, 3, 5, -20;", minus(5)},
        Case{"mul.wide.s32 %rd5, -3, 5; shr.s64 %rd6, %rd5, 32; cvt.u32.u64 %r9, %rd6;", minus(1)},
        Case{"mul.wide.u32 %rd5, -1, 2; shr.u64 %rd6, %rd5, 32; cvt.u32.u64 %r9, %rd6;", 1},
        Case{"mad.wide.s32 %rd5, -1, 4, 8; cvt.u32.u64 %r9, %rd5;", 4},
        Case{"mul.wide.u16 %r9, 0xFFFF, 0xFFFF;", 0xfffe0001},
        Case{"div.s32 %r9, -7, 2;", minus(3)}, Case{"rem.s32 %r9, -7, 2;", minus(1)},
        Case{"div.u32 %r9, -7, 2;", 0x7ffffffc}, Case{"rem.u32 %r9, 7, 0;", 7},
        Case{"shl.b32 %r9, 1, 31;", 0x80000000}, Case{"shl.b32 %r9, 1, 32;", 0},
        Case{"shr.u32 %r9, -1, 28;", 15}, Case{"shr.s32 %r9, -8, 1;", minus(4)},
        Case{"shr.s32 %r9, -8, 99;", minus(1)}, Case{"shr.u32 %r9, -1, 32;", 0},
        Case{"shl.b16 %rs1, 0xFFFF, 8; cvt.u32.u16 %r9, %rs1;", 0xff00},
        Case{"and.b32 %r9, 12, 10;", 8}, Case{"or.b32 %r9, 12, 10;", 14},
        Case{"xor.b32 %r9, 12, 10;", 6}, Case{"not.b32 %r9, 0;", 0xffffffff},
        Case{"neg.s32 %r9, 5;", minus(5)}, Case{"abs.s32 %r9, -5;", 5},
        Case{"min.s32 %r9, -1, 1;", minus(1)}, Case{"min.u32 %r9, -1, 1;", 1},
        Case{"max.s32 %r9, -1, 1;", 1}, Case{"popc.b32 %r9, 0xF0F0;", 8},
        Case{"bfe.u32 %r9, 0xABCD, 4, 8;", 0xbc}, Case{"bfe.s32 %r9, 0xABCD, 4, 8;", 0xffffffbc},
        Case{"bfe.s32 %r9, 0xABCD, 40, 8;", 0}, Case{"bfe.u32 %r9, 0xABCD, 4, 0;", 0},
        Case{"prmt.b32 %r9, 0x44332211, 0x88776655, 0x7310;", 0x88442211},
        Case{"prmt.b32 %r9, 0x44332291, 0, 0x8888;", 0xffffffff},
        Case{"mov.b64 %rd5, {3, 4}; mov.b64 {%r4, %r5}, %rd5; sub.s32 %r9, %r5, %r4;", 1}));

INSTANTIATE_TEST_SUITE_P(
    Comparisons, Arithmetic,
    testing::Values(
        Case{"setp.lt.s32 %p1, -1, 1; selp.b32 %r9, 7, 8, %p1;", 7},
        Case{"setp.lt.u32 %p1, -1, 1; selp.b32 %r9, 7, 8, %p1;", 8},
        Case{"setp.hs.u32 %p1, 1, 1; selp.b32 %r9, 7, 8, %p1;", 7},
        Case{"setp.eq.s32 %p1, 1, 1; setp.ne.and.s32 %p2, 1, 2, !%p1; selp.b32 %r9, 7, 8, %p2;", 8},
        Case{"setp.eq.s32 %p1, 1, 1; setp.gt.or.s32 %p2, 1, 2, %p1; selp.b32 %r9, 7, 8, %p2;", 7},
        Case{"setp.le.s32 %p1, 1, 1; not.pred %p2, %p1; selp.b32 %r9, 7, 8, %p2;", 8},
        Case{"setp.lt.f32 %p1, 0f7FC00000, 0f3F800000; selp.b32 %r9, 7, 8, %p1;", 8},
        Case{"setp.ltu.f32 %p1, 0f7FC00000, 0f3F800000; selp.b32 %r9, 7, 8, %p1;", 7},
        Case{"setp.ge.f32 %p1, 0f3F800000, 0fBF800000; selp.b32 %r9, 7, 8, %p1;", 7}));

INSTANTIATE_TEST_SUITE_P(
    Floats, Arithmetic,
    testing::Values(Case{"add.f32 %r9, 0f3F800000, 0f3F800000;", bits_of(2)},
                    Case{"sub.f32 %r9, 0f3F800000, 0f40000000;", bits_of(-1)},
                    Case{"mul.rn.ftz.f32 %r9, 0f40000000, 0f40400000;", bits_of(6)},
                    Case{"fma.rn.f32 %r9, 0f40000000, 0f40400000, 0f3F800000;", bits_of(7)},
                    Case{"max.f32 %r9, 0f7FC00000, 0f3F800000;", bits_of(1)},
                    Case{"neg.f32 %r9, 0f3F800000;", bits_of(-1)},
                    Case{"cvt.rn.f32.s32 %r9, -3;", bits_of(-3)},
                    Case{"cvt.rzi.s32.f32 %r9, 0fC0600000;", minus(3)},
                    Case{"cvt.rzi.u32.f32 %r9, 0fC0600000;", 0},
                    Case{"cvt.rzi.s32.f32 %r9, 0f7FC00000;", 0}));

// Subnormal numbers are zeros to some instructions.
TEST(ArithmeticOfFloats, IsNotKnownWhereItIsSubnormal) {
  EXPECT_FALSE(result_of("mul.f32 %r9, 0f00800000, 0f3F000000;"));
  EXPECT_TRUE(result_of("mul.f32 %r9, 0f00800000, 0f40000000;"));
}

TEST(ArithmeticOfFloats, IsNotKnownWhereHardwareEstimates) {
  EXPECT_FALSE(result_of("ex2.approx.ftz.f32 %r9, 0f3F800000;"));
  EXPECT_FALSE(result_of("div.full.f32 %r9, 0f3F800000, 0f40000000;"));
}

TEST(ArithmeticOfParameters, ReadsThem) { EXPECT_EQ(result_of("add.s32 %r9, %r1, 1;", 41), 42U); }

}  // namespace
}  // namespace headroom::ptx
