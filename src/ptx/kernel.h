// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/gpus/gpu.h"

// A kernel as PTX, NVIDIA's documented assembly, which a compiler such as Triton's leaves in what
// it makes. https://docs.nvidia.com/cuda/parallel-thread-execution/ has the language.
namespace headroom::ptx {

/// What an instruction does, as far as it is followed. `unknown` has results that are not, `effect`
/// may write to memory as well.
enum class Operation {
  unknown,
  effect,
  nothing,
  move,
  pack,
  unpack,
  add,
  subtract,
  multiply,
  multiply_high,
  multiply_wide,
  multiply_add,
  multiply_add_wide,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  negate,
  absolute,
  minimum,
  maximum,
  divide,
  remainder,
  bit_field,
  permute,  // bytes of two numbers
  select,
  compare,
  convert,
  count_bits,
  holds,    // a predicate that is taken to be true: what was waited for has come
  product,  // of matrices whose sizes a descriptor has, as Blackwell's; its count is for each 1 x 1
  load,
  load_matrices,
  store,
  atomic_exchange,
  atomic_add,
  shuffle,
  sum_of_warp,
  branch,
  end,
  trap,  // the program fails
};

/// Whether it reads a place in memory and writes there.
constexpr bool is_atomic(Operation operation) {
  return operation == Operation::atomic_add || operation == Operation::atomic_exchange;
}

struct Type {
  enum class Kind { bits, is_signed, is_unsigned, floating, predicate };

  Kind kind = Kind::bits;
  int bits = 0;  // 0: it is none that is followed
};

enum class Comparison { eq, ne, lt, le, gt, ge };
enum class Combination { none, bit_and, bit_or, bit_xor };
enum class Shuffle { up, down, butterfly, index };
enum class Space { parameter, global, shared, other };

struct Operand {
  enum class Kind { none, in_register, number, special, parameter };

  Kind kind = Kind::none;   // none: not known, or a result that nobody wants
  std::uint64_t value = 0;  // a number; the index of a register, of a parameter, or a Special
  bool is_negated = false;  // a predicate
};

inline constexpr unsigned kWarp = 32;  // threads

/// Registers that a thread reads and that say where it is.
enum class Special {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  lane,
  warp
};

/// What a warp's instructions amount to: what its tensor cores multiply, by Precision, how many are
/// issued, and how many bytes of the device's memory they reach at the most.
struct Count {
  Count& operator+=(const Count& other);
  Count operator*(double times) const;

  static constexpr std::size_t kPrecisions = 6;
  std::array<double, kPrecisions> flops{};
  double issued = 0;
  double reached_bytes = 0;  // without end, where copies in bulk say elsewhere how long they are
  double spilled_bytes = 0;  // to memory and back, of what has no room in registers
};

struct Instruction {
  Operation operation = Operation::unknown;
  Type type;
  Type from_type;  // of a conversion
  Comparison comparison = Comparison::eq;
  bool is_unordered = false;  // a comparison of floats that holds where one is no number
  Combination combination = Combination::none;
  Shuffle shuffle = Shuffle::index;
  bool is_transposed = false;  // the matrices that are loaded
  Space space = Space::other;
  Operand guard;  // a predicate; none: it is always executed
  std::vector<Operand> to;
  std::vector<Operand> from;  // where there is an address: that, then what is stored
  std::int64_t offset = 0;    // of the address
  std::size_t target = 0;     // of a branch: which instruction comes next
  Count count;
};

struct Kernel {
  std::vector<int> parameter_bytes;
  std::vector<Instruction> instructions;
  std::vector<int> register_words;  // of 32 bits, which each register takes; 0: a predicate
};

/// The kernel of that name in a text whose lines end with a newline or, as in a cubin, a zero.
/// Nothing: it has none, or is not PTX.
std::optional<Kernel> parse(std::string_view text, std::string_view name);

}  // namespace headroom::ptx
