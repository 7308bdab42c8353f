// SPDX-License-Identifier: Apache-2.0
#include "src/ptx/branches.h"

#include <optional>

namespace headroom::ptx {
namespace {

using Kind = Operand::Kind;

bool is_guarded(const Instruction& instruction) { return instruction.guard.kind != Kind::none; }

/// Whether all from one up to another is executed in order, by all threads that reach the first.
bool is_plain(const Kernel& kernel, std::size_t begin, std::size_t end,
              const std::vector<int>& jumps, const Operand& guard) {
  for (std::size_t i = begin; i < end; ++i) {
    const Operation operation = kernel.instructions[i].operation;
    const bool has_own_way = operation == Operation::branch || operation == Operation::end ||
                             operation == Operation::product;  // whose guard counts
    if (has_own_way) return false;
    if (i > begin && jumps[i] > 0) return false;
    for (const Operand& to : kernel.instructions[i].to) {  // the guard must stay what it is
      if (to.kind == Kind::in_register && to.value == guard.value) return false;
    }
  }
  return true;
}

/// What a branch chooses between: [begin, middle) where it does not jump, [middle, end) where it
/// does. Nothing in the latter: the former alone is executed or not.
struct Choice {
  std::size_t begin;
  std::size_t middle;
  std::size_t end;
  bool has_jump = false;  // the former ends with a jump to the end
};

std::size_t next_branch(const Kernel& kernel, std::size_t place) {
  while (place < kernel.instructions.size() &&
         kernel.instructions[place].operation != Operation::branch) {
    ++place;
  }
  return place;
}

std::optional<Choice> choice_of(const Kernel& kernel, std::size_t branch,
                                const std::vector<int>& jumps) {
  const Instruction& jump = kernel.instructions[branch];
  const std::size_t begin = branch + 1;
  if (jump.operation != Operation::branch || !is_guarded(jump) || jumps[begin] > 0) return {};
  const std::size_t next = next_branch(kernel, begin);
  const bool meet = next < kernel.instructions.size() && !is_guarded(kernel.instructions[next]) &&
                    kernel.instructions[next].target == jump.target;
  if (meet && is_plain(kernel, begin, next, jumps, jump.guard)) return Choice{begin, next, next};
  if (jump.target <= begin) return {};
  if (is_plain(kernel, begin, jump.target, jumps, jump.guard)) {
    return Choice{begin, jump.target, jump.target};
  }
  const Instruction& last = kernel.instructions[jump.target - 1];
  const bool has_other = last.operation == Operation::branch && !is_guarded(last) &&
                         last.target > jump.target && jumps[jump.target] == 1;
  if (!has_other || !is_plain(kernel, begin, jump.target - 1, jumps, jump.guard) ||
      !is_plain(kernel, jump.target, last.target, jumps, jump.guard)) {
    return {};
  }
  return Choice{begin, jump.target, last.target, true};
}

bool may_write(Operation operation) {
  return operation == Operation::store || is_atomic(operation) || operation == Operation::effect ||
         operation == Operation::trap;
}

/// One that had a guard of its own is executed by threads that are not known.
void add_guard(const Operand& guard, Instruction& instruction) {
  if (!is_guarded(instruction)) {
    instruction.guard = guard;
  } else {
    instruction.operation =
        may_write(instruction.operation) ? Operation::effect : Operation::unknown;
  }
}

/// "@p bra A; bra B; A:" says "@!p bra B".
void join_two_branches(Kernel& kernel, std::size_t place, std::vector<int>& jumps) {
  if (place + 2 > kernel.instructions.size() - 1) return;
  Instruction& first = kernel.instructions[place];
  Instruction& second = kernel.instructions[place + 1];
  const bool are_two = first.operation == Operation::branch && is_guarded(first) &&
                       first.target == place + 2 && second.operation == Operation::branch &&
                       !is_guarded(second) && jumps[place + 1] == 0;
  if (!are_two) return;
  second.guard = first.guard;
  second.guard.is_negated = !first.guard.is_negated;
  --jumps[first.target];
  first.operation = Operation::nothing;
  first.guard = {};
}

/// Whether who comes there gets to a trap, whatever holds.
bool fails(const Kernel& kernel, std::size_t place) {
  for (std::size_t steps = 0;
       place < kernel.instructions.size() && steps < kernel.instructions.size(); ++steps) {
    const Instruction& instruction = kernel.instructions[place];
    if (instruction.operation == Operation::trap) return !is_guarded(instruction);
    if (instruction.operation == Operation::end) return false;
    const bool jumps = instruction.operation == Operation::branch;
    if (jumps && is_guarded(instruction)) return false;
    place = jumps ? instruction.target : place + 1;
  }
  return false;
}

void drop_assertions(Kernel& kernel) {
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    Instruction& branch = kernel.instructions[i];
    if (branch.operation != Operation::branch || !is_guarded(branch)) continue;
    const bool is_left_out = fails(kernel, branch.target);
    if (!is_left_out && !fails(kernel, i + 1)) continue;
    if (is_left_out) branch.operation = Operation::nothing;
    branch.guard = {};
  }
}

void guard_choices(Kernel& kernel) {
  std::vector<int> all_jumps = jumps(kernel);
  const auto drop = [&](Instruction& branch) {
    --all_jumps[branch.target];
    branch.operation = Operation::nothing;
    branch.guard = {};
  };
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    join_two_branches(kernel, i, all_jumps);
  }
  for (std::size_t i = kernel.instructions.size(); i-- > 0;) {  // those inside of others first
    const auto choice = choice_of(kernel, i, all_jumps);
    if (!choice) continue;
    const Operand leaves = kernel.instructions[i].guard;
    Operand stays = leaves;
    stays.is_negated = !leaves.is_negated;
    drop(kernel.instructions[i]);
    if (choice->has_jump) drop(kernel.instructions[choice->middle - 1]);
    for (std::size_t j = choice->begin; j < choice->middle; ++j) {
      add_guard(stays, kernel.instructions[j]);
    }
    for (std::size_t j = choice->middle; j < choice->end; ++j) {
      add_guard(leaves, kernel.instructions[j]);
    }
  }
}

}  // namespace

std::vector<Loop> loops(const Kernel& kernel) {
  std::vector<Loop> found;
  for (std::size_t end = 0; end < kernel.instructions.size(); ++end) {
    const Instruction& last = kernel.instructions[end];
    if (last.operation == Operation::branch && last.target <= end) {
      found.push_back({last.target, end});
    }
  }
  return found;
}

std::vector<int> jumps(const Kernel& kernel) {
  std::vector<int> jumps(kernel.instructions.size() + 1);
  for (const Instruction& instruction : kernel.instructions) {
    if (instruction.operation == Operation::branch) ++jumps[instruction.target];
  }
  return jumps;
}

void straighten(Kernel& kernel) {
  drop_assertions(kernel);
  guard_choices(kernel);
}

}  // namespace headroom::ptx
