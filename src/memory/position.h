// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Where in a run the program is, so that an allocation can say where it came from. Phase and block
// hold for the whole process, since autograd works on threads of its own; the operator is the
// thread's.
namespace headroom {

enum class Phase { build, load, forward, backward, update, evaluate };

inline constexpr std::int64_t kNoBlock = -1;  // before the first block or behind the last

struct Position {
  Phase phase = Phase::build;
  std::int64_t block = kNoBlock;
  const char* op = "";  // the outermost ATen operator on this thread, a name that never dies
};

Position current_position();

/// Sets the phase for a scope.
class PhaseScope {
 public:
  explicit PhaseScope(Phase phase);
  ~PhaseScope();
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  Phase before_;
};

/// Says which block runs from here on; kNoBlock: none.
void enter_block(std::int64_t block);

/// Follows the operators of all threads for a scope. Every dispatch pays for it, nested ones too.
class OperatorScope {
 public:
  OperatorScope();
  ~OperatorScope();
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;

 private:
  std::uint64_t callback_;
};

}  // namespace headroom
