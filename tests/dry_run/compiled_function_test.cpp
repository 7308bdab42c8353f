// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/compiled_function.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace headroom::dry_run {
namespace {

constexpr std::size_t kElements = 32;
constexpr std::size_t kSizeOfAll = 4 * kElements;

/// Each thread adds the number to an element, and multiplies as often as the first one says.
const char* const kText =
    ".visible .entry made(.param .u64 made_0, .param .u64 made_1, .param .u32 made_2)\n"
    "{\n"
    "ld.param.b64 %rd1, [made_0];\n"
    "ld.param.b64 %rd2, [made_1];\n"
    "ld.param.b32 %r1, [made_2];\n"
    "mov.u32 %r2, %tid.x;\n"
    "mad.wide.s32 %rd3, %r2, 4, %rd1;\n"
    "ld.global.b32 %r3, [%rd3];\n"
    "add.s32 %r4, %r3, %r1;\n"
    "ld.global.b32 %r5, [%rd1];\n"
    "mov.b32 %r6, 0;\n"
    "$L__BB0_1:\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r40}, {%r41}, {%r42}, {%r40};\n"
    "add.s32 %r6, %r6, 1;\n"
    "setp.lt.s32 %p1, %r6, %r5;\n"
    "@%p1 bra $L__BB0_1;\n"
    "mad.wide.s32 %rd4, %r2, 4, %rd2;\n"
    "st.global.b32 [%rd4], %r4;\n"
    "ret;\n"
    "}\n";

class CompiledFunctionTest : public testing::Test {
 protected:
  CompiledFunctionTest() { note(kSizeOfAll); }

  void note(std::size_t bytes) {
    blocks.note(from, static_cast<std::int64_t>(kSizeOfAll));
    blocks.note(to, static_cast<std::int64_t>(bytes));
  }
  void know(int first) {
    std::array<int, kElements> numbers{};
    numbers[0] = first;
    numbers[9] = 5;
    known.set(from, numbers.data(), kSizeOfAll);
  }
  bool run() { return function.run(launch, function.count(launch, blocks, known), blocks, known); }
  std::vector<int> written() const {
    const auto bytes = known.find(to, kSizeOfAll);
    std::vector<int> numbers(bytes.size() / sizeof(int));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }

  const char* from = reinterpret_cast<const char*>(0x1000);
  const char* to = reinterpret_cast<const char*>(0x20000000);
  int number = 7;
  std::array<void*, 3> arguments{&from, &to, &number};
  ptx::Launch launch{{1, 1, 1}, {kElements, 1, 1}, arguments.data()};
  LiveBlocks blocks;
  KnownBytes known;
  CompiledFunction function{"made", std::make_shared<const std::string>(kText)};
};

TEST_F(CompiledFunctionTest, GoesTwiceThroughWhatItChanges) {
  EXPECT_EQ(function.parts(launch, blocks)->bytes, 2 * kSizeOfAll);
  std::string text = kText;
  const std::string stored = "st.global.b32 [%rd4], %r4;\n";
  text.replace(text.find(stored), stored.size(), "st.global.b32 [%rd3], %r4;\n" + stored);
  const CompiledFunction changing{"made", std::make_shared<const std::string>(text)};
  EXPECT_EQ(changing.parts(launch, blocks)->bytes, 3 * kSizeOfAll);
  const CompiledFunction unknown{"made", std::make_shared<const std::string>()};
  EXPECT_FALSE(unknown.parts(launch, blocks));
}

TEST_F(CompiledFunctionTest, IsRunWhereAllThatItReadsIsKnown) {
  EXPECT_FALSE(run());
  know(1);
  ASSERT_TRUE(run());
  ASSERT_EQ(written().size(), kElements);
  EXPECT_EQ(written()[9], 12);
  number = 8;
  ASSERT_TRUE(run());
  EXPECT_EQ(written()[9], 13);
}

TEST_F(CompiledFunctionTest, WritesAgainWhatSomethingElseOverwrote) {
  know(1);
  ASSERT_TRUE(run());
  ASSERT_TRUE(run());
  known.forget(to, kSizeOfAll);
  ASSERT_TRUE(run());
  EXPECT_EQ(written().at(0), 8);
}

TEST_F(CompiledFunctionTest, IsNotRunWhereItWritesMuch) {
  know(1);
  note(KnownBytes::kMaxBytesOfNumbers + 1);
  EXPECT_FALSE(run());
}

TEST_F(CompiledFunctionTest, HandsOnThatWhatItReadsIsAssumed) {
  const std::array<int, kElements> numbers{};
  known.set(from, numbers.data(), kSizeOfAll, kAssumed);
  ASSERT_TRUE(run());
  Trust trust;
  known.find(to, kSizeOfAll, &trust);
  EXPECT_TRUE(trust.is_assumed);
}

TEST_F(CompiledFunctionTest, IsCountedByWhatItReads) {
  const auto flops = [&] {
    const auto count = function.count(launch, blocks, known);
    return count ? count->flops[static_cast<std::size_t>(Precision::bfloat16)] : -1;
  };
  EXPECT_EQ(flops(), -1);
  know(3);
  EXPECT_EQ(flops(), 3 * 4096);
  know(10);
  EXPECT_EQ(flops(), 10 * 4096);
}

TEST_F(CompiledFunctionTest, MayHaveNoText) {
  know(1);
  CompiledFunction other("made", std::make_shared<const std::string>());
  EXPECT_FALSE(other.run(launch, /*executed=*/{}, blocks, known));
  EXPECT_FALSE(other.count(launch, blocks, known));
}

}  // namespace
}  // namespace headroom::dry_run
