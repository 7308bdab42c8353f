// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "src/ptx/kernel.h"
#include "src/ptx/memory.h"

namespace headroom::ptx {

struct Launch {
  std::int64_t blocks() const { return std::int64_t{1} * grid[0] * grid[1] * grid[2]; }
  /// Of a block.
  unsigned threads() const { return block[0] * block[1] * block[2]; }
  unsigned warps() const { return (threads() + kWarp - 1) / kWarp; }
  /// The block with that place among all, by x, y and z.
  std::array<unsigned, 3> block_at(std::int64_t place) const;

  std::array<unsigned, 3> grid{1, 1, 1};   // blocks
  std::array<unsigned, 3> block{1, 1, 1};  // threads
  void** arguments = nullptr;              // a pointer to each
};

/// Threads of one block of a launch, which execute each instruction together.
class Threads {
 public:
  /// So many of a block, from the one with the index `first` on.
  Threads(const Kernel& kernel, const Launch& launch, Memory& memory, std::size_t first,
          std::size_t count);

  /// Runs a block, by its index in x, y and z. False: it is not known what it does, as where a
  /// thread goes another way than the others, or on what is not known; or it would take more
  /// instructions than so many.
  bool run(const std::array<unsigned, 3>& block, std::int64_t most_instructions);

  /// What a warp's instructions amounted to in the last run.
  const Count& counted() const { return counted_; }

 private:
  using Lanes = std::vector<std::uint64_t>;  // a number of each thread

  struct Register {
    Lanes lanes;
    bool is_known = false;  // in each thread
    bool is_set = false;    // by one thread at least: what others have matters to none
  };

  bool execute(const Instruction& instruction);
  bool branch(const Instruction& instruction);
  bool product(const Instruction& instruction);
  void load(const Instruction& instruction);
  bool store(const Instruction& instruction);
  bool atomic(const Instruction& instruction);
  void shuffle(const Instruction& instruction);
  void sum_of_warp(const Instruction& instruction);
  void load_matrices(const Instruction& instruction);
  void assign(const Instruction& instruction);
  void pack(const Instruction& instruction);
  void unpack(const Instruction& instruction);
  const std::uint64_t* read(const Operand& operand, Lanes& space) const;
  std::uint64_t special(Special which, std::size_t thread) const;
  std::uint64_t argument(std::size_t index, std::int64_t offset, std::size_t bytes) const;
  void set(const Operand& to, const Lanes& lanes, bool is_known);
  Memory* memory_of(Space space);

  const Kernel& kernel_;
  const Launch& launch_;
  Memory& global_;
  Memory shared_;
  std::size_t first_;
  std::size_t count_;
  std::array<unsigned, 3> block_{};
  std::vector<Register> registers_;
  static constexpr std::size_t kMostOperands = 3;  // that are read, of a calculation
  std::array<Lanes, kMostOperands> spaces_;        // for operands that no register holds
  Lanes results_;
  Lanes guard_;  // which threads execute the instruction
  bool is_guard_known_ = true;
  bool is_for_all_ = true;  // they all do
  std::size_t next_ = 0;
  Count counted_;
};

/// Runs all blocks, one by one. False: it is not known what they do (Threads::run), or they would
/// take more than so many instructions of warps. What they wrote until then is in the memory.
bool run(const Kernel& kernel, const Launch& launch, Memory& memory, std::int64_t most);

}  // namespace headroom::ptx
