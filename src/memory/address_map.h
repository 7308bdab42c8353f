// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// What is known of live allocations, by address. A step of training makes and frees thousands,
/// between kernels that fill the caches. So this is one table with open addressing: an event costs
/// a line or two of it, and takes no memory of its own out of the heap that is measured.
template <class Value>
class AddressMap {
 public:
  /// Null where the address is not known. Good until the next insert() or take().
  Value* find(const void* address) {
    Slot& slot = slots_[slot_of(address)];
    return slot.address == nullptr ? nullptr : &slot.value;
  }

  /// Adds the value, or replaces what the address (not null) had.
  void insert(const void* address, const Value& value) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[slot_of(address)];
    if (slot.address == nullptr) ++count_;
    slot = {address, value};
  }

  /// Removes the address and gives what it had; nothing where it is not known.
  std::optional<Value> take(const void* address) {
    const std::size_t slot = slot_of(address);
    if (slots_[slot].address == nullptr) return std::nullopt;
    const Value value = slots_[slot].value;
    close(slot);
    --count_;
    return value;
  }

  /// Calls `visit` with each value, in no order that means anything.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.address != nullptr) visit(slot.value);
    }
  }

 private:
  struct Slot {
    const void* address = nullptr;  // null: empty
    Value value{};
  };

  std::size_t after(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

  /// Where the search for an address begins: the upper bits of a multiplicative hash.
  std::size_t home(const void* address) const {
    constexpr std::uint64_t kGoldenRatio = 0x9E37'79B9'7F4A'7C15;
    return (reinterpret_cast<std::uintptr_t>(address) * kGoldenRatio) >> (64 - bits_);
  }

  /// The slot that holds the address, or the empty one that it would get.
  std::size_t slot_of(const void* address) const {
    std::size_t i = home(address);
    while (slots_[i].address != nullptr && slots_[i].address != address) i = after(i);
    return i;
  }

  /// Empties a slot. What was pushed past it moves back, so that searches may end at an empty slot.
  void close(std::size_t gap) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = after(gap); slots_[i].address != nullptr; i = after(i)) {
      const std::size_t from_home = (i - home(slots_[i].address)) & mask;
      if (from_home < ((i - gap) & mask)) continue;
      slots_[gap] = slots_[i];
      gap = i;
    }
    slots_[gap] = {};
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    ++bits_;
    for (const Slot& slot : old) {
      if (slot.address != nullptr) slots_[slot_of(slot.address)] = slot;
    }
  }

  int bits_ = 10;
  std::vector<Slot> slots_ = std::vector<Slot>(std::size_t{1} << bits_);  // at most half are used
  std::size_t count_ = 0;
};

}  // namespace headroom
