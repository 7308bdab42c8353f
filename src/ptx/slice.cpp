// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/slice.h"

#include <algorithm>
#include <cmath>

#include "src/ptx/branches.h"

namespace headroom::ptx {
namespace {

constexpr std::int64_t kMostBlocks = 256;
constexpr std::int64_t kMostInstructions = 1 << 17;  // of a warp

bool is_register(const Operand& operand) { return operand.kind == Operand::Kind::in_register; }

bool is_by_thread(const Operand& operand) {
  if (operand.kind != Operand::Kind::special) return false;
  const auto which = static_cast<Special>(operand.value);
  return which == Special::tid_x || which == Special::tid_y || which == Special::tid_z ||
         which == Special::lane || which == Special::warp;
}

bool steers(Operation operation) {
  return operation == Operation::branch || operation == Operation::end ||
         operation == Operation::product;
}

/// Which instructions decide where threads go. Registers that conditions are made of are needed
/// wherever they are set.
std::vector<bool> needed_instructions(const Kernel& kernel) {
  std::vector<bool> is_kept(kernel.instructions.size());
  std::vector<bool> is_needed(kernel.register_words.size());
  const auto need = [&](const Operand& operand) {
    if (is_register(operand)) is_needed[operand.value] = true;
  };
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
      const Instruction& instruction = kernel.instructions[i];
      const bool sets_needed = std::ranges::any_of(instruction.to, [&](const Operand& to) {
        return is_register(to) && is_needed[to.value];
      });
      if (is_kept[i] || !(steers(instruction.operation) || sets_needed)) continue;
      is_kept[i] = true;
      has_grown = true;
      need(instruction.guard);
      std::ranges::for_each(instruction.from, need);
    }
  }
  return is_kept;
}

}  // namespace

Slice slice(const Kernel& kernel) {
  const std::vector<bool> is_kept = needed_instructions(kernel);
  const std::vector<int> all_jumps = jumps(kernel);
  std::vector<std::size_t> places(kernel.instructions.size() + 1);
  Slice made;
  made.kernel.parameter_bytes = kernel.parameter_bytes;
  made.kernel.register_words = kernel.register_words;
  auto& instructions = made.kernel.instructions;
  Count skipped;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction& instruction = kernel.instructions[i];
    const auto tell_skipped = [&] {
      Instruction before;
      before.operation = Operation::nothing;
      before.count = skipped;
      instructions.push_back(before);
      skipped = {};
    };
    if (all_jumps[i] > 0) tell_skipped();  // who jumps here did not come by it
    places[i] = instructions.size();
    if (instruction.operation == Operation::product) tell_skipped();
    skipped += instruction.count;
    if (!is_kept[i]) continue;
    instructions.push_back(instruction);
    instructions.back().count = skipped;
    skipped = {};
    made.has_loads |=
        instruction.operation == Operation::load && instruction.space != Space::parameter;
    made.is_by_thread |= std::ranges::any_of(instruction.from, &is_by_thread) ||
                         instruction.operation == Operation::product;
  }
  for (Instruction& instruction : instructions) {
    if (instruction.operation == Operation::branch) instruction.target = places[instruction.target];
  }
  return made;
}

std::optional<Count> count(const Slice& slice, const Launch& launch, Memory& memory) {
  const unsigned run = slice.is_by_thread ? launch.warps() : 1;
  const std::int64_t blocks = launch.blocks();
  const std::int64_t samples = std::min(blocks, kMostBlocks);
  Count all;
  for (unsigned warp = 0; warp < run; ++warp) {
    Threads leader(slice.kernel, launch, memory, warp * kWarp, 1);
    for (std::int64_t i = 0; i < samples; ++i) {
      // Multiples of the golden ratio are in step with no size of a grid.
      const double golden = 0.6180339887498949 * static_cast<double>(i);
      const double share = golden - std::floor(golden);
      const std::int64_t place =
          samples == blocks ? i : static_cast<std::int64_t>(share * static_cast<double>(blocks));
      if (!leader.run(launch.block_at(place), kMostInstructions)) return std::nullopt;
      all += leader.counted();
    }
  }
  const double warps_of_one = static_cast<double>(launch.warps()) / run;
  const double blocks_of_one = static_cast<double>(blocks) / static_cast<double>(samples);
  return all * (warps_of_one * blocks_of_one);
}

}  // namespace headroom::ptx
