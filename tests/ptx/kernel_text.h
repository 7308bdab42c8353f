// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "src/ptx/branches.h"
#include "src/ptx/threads.h"

namespace headroom::ptx {

/// PTX of a kernel "made" of two pointers and a number, as Triton's compiler lays it out. `body`:
/// with %rd1 and %rd2 the pointers, %r1 the number, %r2 the thread, %r3 the block.
inline std::string kernel_text(const std::string& body) {
  return ".version 8.4\n"
         ".target sm_90a\n"
         ".extern .shared .align 16 .b8 global_smem[];\n"
         ".visible .entry made(\n"
         "\t.param .u64 .ptr .global .align 1 made_param_0,\n"
         "\t.param .u64 .ptr .global .align 1 made_param_1,\n"
         "\t.param .u32 made_param_2\n"
         ")\n"
         ".reqntid 64\n"
         "{\n"
         "\t.reg .pred \t%p<10>;\n"
         "\t.reg .b32 \t%r<50>;\n"
         "\t.loc\t1 20 0\n"
         "\tld.param.b64 \t%rd1, [made_param_0];\n"
         "\tld.param.b64 \t%rd2, [made_param_1];\n"
         "\tld.param.b32 \t%r1, [made_param_2];\n"
         "\tmov.u32 \t%r2, %tid.x;\n"
         "\tmov.u32 \t%r3, %ctaid.x;\n" +
         body +
         "\tret;\n"
         "}\n";
}

inline Kernel kernel_of(const std::string& body) {
  auto kernel = parse(kernel_text(body), "made");
  EXPECT_TRUE(kernel);
  straighten(*kernel);
  return std::move(*kernel);
}

/// A launch of it. The tensor that it reads, at kFrom, has 32-bit numbers; that which it writes, at
/// kTo, has as many as there are threads, and is not known.
class Made {
 public:
  static constexpr std::uint64_t kFrom = 0x10000;
  static constexpr std::uint64_t kTo = 0x20000;

  Made(unsigned blocks, unsigned threads, std::uint32_t number = 0) : number_(number) {
    launch.grid = {blocks, 1, 1};
    launch.block = {threads, 1, 1};
    launch.arguments = arguments_.data();
    const std::size_t bytes = std::size_t{4} * blocks * threads;
    memory.ranges.push_back({kTo, std::vector<unsigned char>(bytes), std::vector<bool>(bytes),
                             /*is_written=*/false});
  }
  Made(const Made&) = delete;

  void read_from(const std::vector<std::uint32_t>& numbers) {
    Range range{kFrom, std::vector<unsigned char>(4 * numbers.size()),
                std::vector<bool>(4 * numbers.size(), true), /*is_written=*/false};
    std::memcpy(range.bytes.data(), numbers.data(), range.bytes.size());
    memory.ranges.push_back(std::move(range));
  }

  /// What a thread wrote; nothing: it is not known.
  std::optional<std::uint32_t> written(std::size_t thread) const {
    const Range& range = memory.ranges.front();
    if (!range.is_known[4 * thread]) return std::nullopt;
    std::uint32_t number = 0;
    std::memcpy(&number, &range.bytes[4 * thread], sizeof(number));
    return number;
  }

  Launch launch;
  Memory memory;

 private:
  std::uint64_t from_ = kFrom;
  std::uint64_t to_ = kTo;
  std::uint32_t number_;
  std::array<void*, 3> arguments_{&from_, &to_, &number_};
};

inline constexpr std::int64_t kMany = 1 << 20;

/// Each thread stores %r9.
inline constexpr const char* kStore =
    "\tmov.u32 \t%r30, %ntid.x;\n"
    "\tmad.lo.s32 \t%r31, %r3, %r30, %r2;\n"
    "\tmad.wide.s32 \t%rd9, %r31, 4, %rd2;\n"
    "\tst.global.b32 \t[ %rd9 + 0 ], { %r9 };\n";

}  // namespace headroom::ptx
