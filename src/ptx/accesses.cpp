// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/accesses.h"

#include <algorithm>
#include <set>

#include "src/ptx/branches.h"

namespace headroom::ptx {
namespace {

using Parameters = std::vector<bool>;

/// False: they were there already.
bool add(const Parameters& others, Parameters& all) {
  bool has_grown = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    has_grown |= others[i] && !all[i];
    all[i] = all[i] || others[i];
  }
  return has_grown;
}

/// Which parameters each register is made of. What is loaded from a tensor is made of none.
class Origins {
 public:
  explicit Origins(const Kernel& kernel)
      : none_(kernel.parameter_bytes.size()), registers_(kernel.register_words.size(), none_) {
    while (std::ranges::count_if(kernel.instructions, [&](const auto& one) { return pass(one); })) {
    }
  }

  Parameters of(const Operand& operand) const {
    if (operand.kind == Operand::Kind::in_register) return registers_[operand.value];
    Parameters made = none_;
    if (operand.kind == Operand::Kind::parameter) made[operand.value] = true;
    return made;
  }

 private:
  /// From operands to results. False: these had them already.
  bool pass(const Instruction& instruction) {
    const bool is_from_tensor =
        instruction.space != Space::parameter &&
        (instruction.operation == Operation::load || is_atomic(instruction.operation));
    bool has_grown = false;
    for (const Operand& to : instruction.to) {
      if (to.kind != Operand::Kind::in_register || is_from_tensor) continue;
      for (const Operand& from : instruction.from) {
        has_grown |= add(of(from), registers_[to.value]);
      }
    }
    return has_grown;
  }

  Parameters none_;
  std::vector<Parameters> registers_;
};

/// The innermost loop around an instruction. Null: there is none.
const Loop* loop_around(const std::vector<Loop>& all, std::size_t place) {
  const Loop* innermost = nullptr;
  for (const Loop& loop : all) {
    const bool is_around = loop.begin <= place && place <= loop.end;
    if (is_around && (innermost == nullptr || loop.begin > innermost->begin)) innermost = &loop;
  }
  return innermost;
}

}  // namespace

Accesses accesses(const Kernel& kernel) {
  const Origins origins(kernel);
  const std::size_t parameters = kernel.parameter_bytes.size();
  Accesses found{std::vector<int>(parameters), Parameters(parameters)};
  const std::vector<Loop> all = loops(kernel);
  std::vector<std::set<const Loop*>> loading(parameters);  // through each
  for (std::size_t place = 0; place < kernel.instructions.size(); ++place) {
    const Instruction& instruction = kernel.instructions[place];
    if (instruction.space != Space::global || instruction.from.empty()) continue;
    const Parameters address = origins.of(instruction.from.front());
    if (is_atomic(instruction.operation) || instruction.operation == Operation::store)
      add(address, found.stores);
    if (!is_atomic(instruction.operation) && instruction.operation != Operation::load) continue;
    const Loop* loop = loop_around(all, place);
    for (std::size_t i = 0; i < parameters; ++i) {
      if (address[i] && loop != nullptr) loading[i].insert(loop);
      if (address[i]) found.loads[i] = std::max(1, static_cast<int>(loading[i].size()));
    }
  }
  return found;
}

}  // namespace headroom::ptx
