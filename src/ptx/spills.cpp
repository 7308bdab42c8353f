// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/spills.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "src/ptx/branches.h"

namespace headroom::ptx {
namespace {

/// Of a thread (CUDA programming guide, "Technical Specifications per Compute Capability").
constexpr std::int64_t kMostRegisters = 255;
/// ptxas moves loads to where their numbers are needed: by its reports (-v) most of Triton's
/// kernels spill little where twice as many are needed at once, and nearly all where four times as
/// many.
constexpr std::int64_t kMostByOrder = 3 * kMostRegisters;
constexpr std::int64_t kBytesOfRegister = 4;
/// Its reports have 14 to 20 bytes then for each that is needed, as if it were stored and loaded
/// twice.
constexpr std::int64_t kTimes = 4;

/// From the instruction that sets a register first to that which reads it last.
struct Life {
  std::size_t begin;
  std::size_t end;
};

std::vector<std::optional<Life>> lives(const Kernel& kernel) {
  std::vector<std::optional<Life>> found(kernel.register_words.size());
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction& instruction = kernel.instructions[i];
    const auto note = [&](const Operand& operand) {
      if (operand.kind != Operand::Kind::in_register) return;
      auto& life = found[operand.value];
      if (!life) life = Life{i, i};
      life->end = i;
    };
    std::ranges::for_each(instruction.to, note);
    std::ranges::for_each(instruction.from, note);
  }
  for (const Loop& loop : loops(kernel)) {
    for (auto& life : found) {
      const bool is_read_again = life && life->begin < loop.begin && life->end >= loop.begin;
      if (is_read_again) life->end = std::max(life->end, loop.end);
    }
  }
  return found;
}

}  // namespace

std::int64_t registers_at_once(const Kernel& kernel) {
  const auto all = lives(kernel);
  std::vector<std::int64_t> change(kernel.instructions.size() + 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    change[all[i]->begin] += kernel.register_words[i];
    change[all[i]->end] -= kernel.register_words[i];
  }
  std::int64_t most = 0;
  std::int64_t now = 0;
  for (const std::int64_t one : change) most = std::max(most, now += one);
  return most;
}

std::int64_t count_spills(Kernel& kernel) {
  const std::int64_t needed = registers_at_once(kernel);
  if (needed <= kMostByOrder) return 0;
  double issued = 0;
  for (const Instruction& one : kernel.instructions) issued += one.count.issued;
  const auto bytes = static_cast<double>(kWarp * kTimes * kBytesOfRegister * needed);
  for (Instruction& one : kernel.instructions) {
    one.count.spilled_bytes = bytes * one.count.issued / issued;
  }
  return kBytesOfRegister * (needed - kMostRegisters);
}

}  // namespace headroom::ptx
