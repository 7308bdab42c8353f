// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/threads.h"

#include <algorithm>
#include <cstring>

#include "src/ptx/arithmetic.h"

namespace headroom::ptx {
namespace {

constexpr std::size_t kSharedBytes = 256 << 10;  // more than any GPU has for a block

using Kind = Operand::Kind;

std::uint64_t with_sign(std::uint64_t value, int bits) {
  const int free = 64 - bits;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << free) >> free);
}

bool stores_shared(const Instruction& instruction) {
  return instruction.operation == Operation::store && instruction.space == Space::shared;
}

}  // namespace

Threads::Threads(const Kernel& kernel, const Launch& launch, Memory& memory, std::size_t first,
                 std::size_t count)
    : kernel_(kernel),
      launch_(launch),
      global_(memory),
      first_(first),
      count_(count),
      registers_(kernel.register_words.size(), Register{Lanes(count)}),
      results_(count),
      guard_(count) {
  // What nobody wrote matters to none; of a slice it is not known who wrote.
  if (!std::ranges::any_of(kernel.instructions, &stores_shared)) return;
  shared_.ranges.push_back({0, std::vector<unsigned char>(kSharedBytes), {}, false});
}

std::array<unsigned, 3> Launch::block_at(std::int64_t place) const {
  const auto x = static_cast<unsigned>(place % grid[0]);
  const auto y = static_cast<unsigned>(place / grid[0] % grid[1]);
  return {x, y, static_cast<unsigned>(place / grid[0] / grid[1])};
}

bool run(const Kernel& kernel, const Launch& launch, Memory& memory, std::int64_t most) {
  Threads threads(kernel, launch, memory, 0, launch.threads());
  const std::int64_t of_warp = most / launch.warps();
  for (std::int64_t i = 0, left = of_warp; i < launch.blocks(); ++i) {
    if (!threads.run(launch.block_at(i), left)) return false;
    left -= static_cast<std::int64_t>(threads.counted().issued);
  }
  return true;
}

bool Threads::run(const std::array<unsigned, 3>& block, std::int64_t most_instructions) {
  block_ = block;
  counted_ = {};
  for (Range& range : shared_.ranges) range.is_known.assign(kSharedBytes, true);
  for (auto& one : registers_) one.is_known = one.is_set = false;
  next_ = 0;
  while (next_ < kernel_.instructions.size()) {
    if (most_instructions-- == 0) return false;
    const Instruction& instruction = kernel_.instructions[next_++];
    if (instruction.operation != Operation::product) counted_ += instruction.count;
    if (instruction.operation == Operation::branch) {
      if (!branch(instruction)) return false;
    } else if (instruction.operation == Operation::end && instruction.guard.kind == Kind::none) {
      return true;
    } else if (!execute(instruction)) {
      return false;
    }
  }
  return true;
}

bool Threads::execute(const Instruction& instruction) {
  Lanes space;
  is_guard_known_ = true;
  is_for_all_ = true;
  if (instruction.guard.kind != Kind::none) {
    const std::uint64_t* guard = read(instruction.guard, space);
    is_guard_known_ = guard != nullptr;
    if (guard != nullptr) std::copy_n(guard, count_, guard_.begin());
    const auto holding = is_guard_known_ ? std::ranges::count(guard_, std::uint64_t{1}) : 0;
    if (is_guard_known_ && holding == 0) return true;
    is_for_all_ = is_guard_known_ && holding == static_cast<std::ptrdiff_t>(count_);
  }
  switch (instruction.operation) {
    case Operation::nothing:
      return true;
    case Operation::effect:
    case Operation::trap:
    case Operation::end:  // of some threads
      return false;
    case Operation::product:
      return product(instruction);
    case Operation::load:
      load(instruction);
      return true;
    case Operation::store:
      return store(instruction);
    case Operation::atomic_exchange:
    case Operation::atomic_add:
      return atomic(instruction);
    case Operation::shuffle:
      shuffle(instruction);
      return true;
    case Operation::sum_of_warp:
      sum_of_warp(instruction);
      return true;
    case Operation::load_matrices:
      load_matrices(instruction);
      return true;
    case Operation::pack:
      pack(instruction);
      return true;
    case Operation::unpack:
      unpack(instruction);
      return true;
    case Operation::holds:
      for (const Operand& to : instruction.to) set(to, Lanes(count_, 1), true);
      return true;
    case Operation::unknown:
      for (const Operand& to : instruction.to) set(to, Lanes(count_), false);
      return true;
    default:
      assign(instruction);
      return true;
  }
}

bool Threads::branch(const Instruction& instruction) {
  Lanes space;
  const bool is_conditional = instruction.guard.kind != Kind::none;
  const std::uint64_t* guard = is_conditional ? read(instruction.guard, space) : nullptr;
  if (is_conditional && guard == nullptr) return false;
  if (is_conditional &&
      !std::all_of(guard, guard + count_, [&](auto one) { return one == *guard; })) {
    return false;
  }
  if (!is_conditional || *guard != 0) next_ = instruction.target;
  return true;
}

/// One thread of a block has it computed, in memory of its own kind that is not followed. The
/// descriptor's bits from 17 on are columns by 8, from 24 on rows by 16 (PTX, "Instruction
/// descriptor").
bool Threads::product(const Instruction& instruction) {
  if (!is_guard_known_ || instruction.from.empty() || count_ != 1) return false;
  const std::uint64_t* descriptor = read(instruction.from[0], spaces_[0]);
  if (descriptor == nullptr) return false;
  const std::uint64_t columns = (*descriptor >> 17 & 63) * 8;
  const std::uint64_t rows = (*descriptor >> 24 & 31) * 16;
  counted_ += instruction.count * static_cast<double>(rows * columns);
  return true;
}

/// The numbers of all threads; null: they are not known. `space`: for those that no register has.
const std::uint64_t* Threads::read(const Operand& operand, Lanes& space) const {
  switch (operand.kind) {
    case Kind::in_register: {
      const Register& found = registers_[operand.value];
      if (!found.is_known) return nullptr;
      if (!operand.is_negated) return found.lanes.data();
      space.resize(count_);
      for (std::size_t i = 0; i < count_; ++i) space[i] = found.lanes[i] ^ 1;
      return space.data();
    }
    case Kind::number:
      space.assign(count_, operand.value);
      return space.data();
    case Kind::special:
      space.resize(count_);
      for (std::size_t i = 0; i < count_; ++i) {
        space[i] = special(static_cast<Special>(operand.value), first_ + i);
      }
      return space.data();
    default:
      return nullptr;
  }
}

std::uint64_t Threads::special(Special which, std::size_t thread) const {
  const auto& sizes = launch_.block;
  switch (which) {
    case Special::tid_x:
      return thread % sizes[0];
    case Special::tid_y:
      return thread / sizes[0] % sizes[1];
    case Special::tid_z:
      return thread / sizes[0] / sizes[1];
    case Special::lane:
      return thread % kWarp;
    case Special::warp:
      return thread / kWarp;
    case Special::ntid_x:
    case Special::ntid_y:
    case Special::ntid_z:
      return sizes.at(static_cast<std::size_t>(which) - static_cast<std::size_t>(Special::ntid_x));
    case Special::ctaid_x:
    case Special::ctaid_y:
    case Special::ctaid_z:
      return block_.at(static_cast<std::size_t>(which) -
                       static_cast<std::size_t>(Special::ctaid_x));
    default:
      return launch_.grid.at(static_cast<std::size_t>(which) -
                             static_cast<std::size_t>(Special::nctaid_x));
  }
}

/// Where the guard holds; elsewhere what was there stays.
void Threads::set(const Operand& to, const Lanes& lanes, bool is_known) {
  if (to.kind != Kind::in_register) return;
  Register& target = registers_[to.value];
  const bool was_known = target.is_known || !target.is_set;
  target.is_set = true;
  if (is_for_all_) {
    target.is_known = is_known;
    if (is_known) std::ranges::copy(lanes, target.lanes.begin());
    return;
  }
  target.is_known = was_known && is_known && is_guard_known_;
  if (!target.is_known) return;
  for (std::size_t i = 0; i < count_; ++i) {
    if (guard_[i] != 0) target.lanes[i] = lanes[i];
  }
}

void Threads::assign(const Instruction& instruction) {
  std::array<const std::uint64_t*, kMostOperands> from{};
  if (instruction.to.empty() || instruction.from.size() > kMostOperands) return;
  const Operand& to = instruction.to.front();
  bool is_known = is_guard_known_;
  for (std::size_t i = 0; i < instruction.from.size() && is_known; ++i) {
    from.at(i) = read(instruction.from[i], spaces_.at(i));
    is_known = from.at(i) != nullptr;
  }
  if (is_for_all_ && to.kind == Kind::in_register) {  // each thread's after what it is made of
    Register& target = registers_[to.value];
    target.is_set = true;
    target.is_known = is_known && calculate(instruction, count_, from.data(), target.lanes.data());
  } else {
    is_known = is_known && calculate(instruction, count_, from.data(), results_.data());
    set(to, results_, is_known);
  }
  for (std::size_t i = 1; i < instruction.to.size(); ++i) set(instruction.to[i], results_, false);
}

Memory* Threads::memory_of(Space space) {
  if (space == Space::global) return &global_;
  return space == Space::shared ? &shared_ : nullptr;
}

std::uint64_t Threads::argument(std::size_t index, std::int64_t offset, std::size_t bytes) const {
  std::uint64_t value = 0;
  std::memcpy(&value, static_cast<const char*>(launch_.arguments[index]) + offset, bytes);
  return value;
}

void Threads::load(const Instruction& instruction) {
  const auto bytes = static_cast<std::size_t>(instruction.type.bits / 8);
  const Operand& address = instruction.from.front();
  const Memory* memory = memory_of(instruction.space);
  Lanes space;
  const std::uint64_t* begin = memory != nullptr && bytes > 0 ? read(address, space) : nullptr;
  for (std::size_t place = 0; place < instruction.to.size(); ++place) {
    const auto offset = instruction.offset + static_cast<std::int64_t>(place * bytes);
    Lanes results(count_);
    bool is_known = is_guard_known_ && begin != nullptr;
    if (instruction.space == Space::parameter && address.kind == Kind::parameter && bytes > 0) {
      is_known = true;
      results.assign(count_, argument(address.value, offset, bytes));
    }
    for (std::size_t i = 0; i < count_ && is_known && begin != nullptr; ++i) {
      if (!is_for_all_ && guard_[i] == 0) continue;
      is_known = memory->load(begin[i] + static_cast<std::uint64_t>(offset), bytes, results[i]);
    }
    if (instruction.type.kind == Type::Kind::is_signed && is_known) {
      for (auto& result : results) result = with_sign(result, instruction.type.bits);
    }
    set(instruction.to[place], results, is_known);
  }
}

bool Threads::store(const Instruction& instruction) {
  if (instruction.space == Space::parameter) return true;  // of a function that is to be called
  const auto bytes = static_cast<std::size_t>(instruction.type.bits / 8);
  Memory* memory = memory_of(instruction.space);
  Lanes address_space;
  const std::uint64_t* begin =
      memory != nullptr && bytes > 0 ? read(instruction.from.front(), address_space) : nullptr;
  if (begin == nullptr) return false;
  for (std::size_t place = 1; place < instruction.from.size(); ++place) {
    const auto offset = instruction.offset + static_cast<std::int64_t>((place - 1) * bytes);
    Lanes space;
    const std::uint64_t* values = read(instruction.from[place], space);
    const bool is_known = is_guard_known_ && values != nullptr;
    for (std::size_t i = 0; i < count_; ++i) {
      if (!is_for_all_ && is_guard_known_ && guard_[i] == 0) continue;
      const std::uint64_t to = begin[i] + static_cast<std::uint64_t>(offset);
      if (!memory->store(to, bytes, is_known ? &values[i] : nullptr)) return false;
    }
  }
  return true;
}

/// Thread by thread: what stands there is the result, and is exchanged or added to.
bool Threads::atomic(const Instruction& instruction) {
  const auto bytes = static_cast<std::size_t>(instruction.type.bits / 8);
  Memory* memory = memory_of(instruction.space);
  if (memory == nullptr || bytes == 0 || instruction.from.size() != 2 || !is_guard_known_) {
    return false;
  }
  const std::uint64_t* to = read(instruction.from[0], spaces_[0]);
  const std::uint64_t* values = read(instruction.from[1], spaces_[1]);
  if (to == nullptr) return false;
  bool is_known = true;
  for (std::size_t i = 0; i < count_; ++i) {
    if (!is_for_all_ && guard_[i] == 0) continue;
    const std::uint64_t address = to[i] + static_cast<std::uint64_t>(instruction.offset);
    const bool was_known = memory->load(address, bytes, results_[i]);
    is_known = is_known && was_known;
    const bool adds = instruction.operation == Operation::atomic_add;
    const std::uint64_t made = (values == nullptr ? 0 : values[i]) + (adds ? results_[i] : 0);
    const bool is_made_known = values != nullptr && (was_known || !adds);
    if (!memory->store(address, bytes, is_made_known ? &made : nullptr)) return false;
  }
  if (!instruction.to.empty()) set(instruction.to.front(), results_, is_known);
  return true;
}

/// Of several numbers one, the first with the lowest bits.
void Threads::pack(const Instruction& instruction) {
  const auto bits = static_cast<unsigned>(instruction.type.bits) / instruction.from.size();
  Lanes results(count_);
  bool is_known = bits > 0 && bits < 64;
  for (std::size_t place = 0; place < instruction.from.size() && is_known; ++place) {
    Lanes space;
    const std::uint64_t* part = read(instruction.from[place], space);
    is_known = part != nullptr;
    for (std::size_t i = 0; i < count_ && is_known; ++i) {
      results[i] |= (part[i] & ((std::uint64_t{1} << bits) - 1)) << (place * bits);
    }
  }
  if (!instruction.to.empty()) set(instruction.to.front(), results, is_known);
}

void Threads::unpack(const Instruction& instruction) {
  const auto bits = static_cast<unsigned>(instruction.type.bits) / instruction.to.size();
  Lanes space;
  const std::uint64_t* whole = bits > 0 && bits < 64 && !instruction.from.empty()
                                   ? read(instruction.from[0], space)
                                   : nullptr;
  for (std::size_t place = 0; place < instruction.to.size(); ++place) {
    Lanes results(count_);
    for (std::size_t i = 0; i < count_ && whole != nullptr; ++i) {
      results[i] = whole[i] >> (place * bits) & ((std::uint64_t{1} << bits) - 1);
    }
    set(instruction.to[place], results, whole != nullptr);
  }
}

}  // namespace headroom::ptx
