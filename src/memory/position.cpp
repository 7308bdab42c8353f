// SPDX-License-Identifier: Apache-2.0
#include "src/memory/position.h"

#include <ATen/record_function.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

namespace headroom {
namespace {

std::atomic<Phase> phase_now{Phase::build};
std::atomic<std::int64_t> block_now{kNoBlock};
thread_local const char* operator_now = "";

/// The same text at an address that stays, since an operator's name may die with its call; without
/// the words that autograd puts before the name of each of its nodes.
const char* interned(std::string_view name) {
  constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";
  if (name.starts_with(kNode)) name.remove_prefix(kNode.size());
  static std::mutex mutex;
  static auto* const names = new std::unordered_set<std::string>;  // read at any time, also at exit
  const std::lock_guard lock(mutex);
  return names->emplace(name).first->c_str();
}

/// Interns through a small table of this thread's, by the address that the name has now: most names
/// do live as long as their operator, and one allocation must not cost a lock and a hash of text.
const char* lasting(const char* name) {
  struct Known {
    const char* address = nullptr;
    std::string text;
    const char* interned = nullptr;
  };
  thread_local std::array<Known, 256> table;
  Known& known = table[(reinterpret_cast<std::uintptr_t>(name) >> 4) % table.size()];
  if (known.address != name || known.text != name) known = {name, name, interned(name)};
  return known.interned;
}

/// Marks the operator that its callback started in: only the outermost one of a thread is named,
/// since `aten::empty` inside `aten::linear` tells nobody anything.
struct Outermost : at::ObserverContext {};

std::unique_ptr<at::ObserverContext> operator_starts(const at::RecordFunction& function) {
  if (*operator_now != '\0') return nullptr;
  operator_now = function.name();
  return std::make_unique<Outermost>();
}

void operator_ends(const at::RecordFunction&, at::ObserverContext* context) {
  if (context != nullptr) operator_now = "";
}

}  // namespace

Position current_position() {
  return {.phase = phase_now.load(std::memory_order_relaxed),
          .block = block_now.load(std::memory_order_relaxed),
          .op = *operator_now == '\0' ? operator_now : lasting(operator_now)};
}

PhaseScope::PhaseScope(Phase phase) : before_(phase_now.exchange(phase)) { enter_block(kNoBlock); }
PhaseScope::~PhaseScope() {
  phase_now.store(before_);
  enter_block(kNoBlock);
}

void enter_block(std::int64_t block) { block_now.store(block, std::memory_order_relaxed); }

OperatorScope::OperatorScope()
    : callback_(at::addGlobalCallback(at::RecordFunctionCallback(&operator_starts, &operator_ends)
                                          .scopes({at::RecordScope::FUNCTION}))) {}

OperatorScope::~OperatorScope() { at::removeCallback(callback_); }

}  // namespace headroom
