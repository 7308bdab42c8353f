// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/python_calls.h"

#include <utility>

#include "src/dry_run/python_function.h"
#include "src/dry_run/thread_name.h"

namespace headroom::dry_run {
namespace {

thread_local std::int64_t calls = 0;

/// Of Python's C API, which says so for all versions: Py_tracefunc, PyTrace_CALL, PyTrace_C_CALL.
using ProfileFunction = int(void* self, void* frame, int what, void* argument);
constexpr int kCall = 0;
constexpr int kCallOfC = 4;

int count_call(void*, void*, int what, void*) {
  if (what == kCall || what == kCallOfC) ++calls;
  return 0;
}

/// PyTorch's threads that run backward have a state in the interpreter from their begin.
void count_with_lock() {
  static auto* const state = python_function<void*()>("PyGILState_GetThisThreadState");
  static auto* const lock = python_function<int()>("PyGILState_Ensure");
  static auto* const unlock = python_function<void(int)>("PyGILState_Release");
  if (state == nullptr || lock == nullptr || unlock == nullptr || state() == nullptr) return;
  const int before = lock();
  count_python_calls();
  unlock(before);
}

}  // namespace

void count_python_calls() {
  static auto* const set = python_function<void(ProfileFunction*, void*)>("PyEval_SetProfile");
  if (set != nullptr) set(&count_call, nullptr);
}

void count_python_calls_of_backward() {
  thread_local bool is_first = true;
  if (std::exchange(is_first, false) && is_thread_named("pt_autograd_")) count_with_lock();
}

std::int64_t take_python_calls() { return std::exchange(calls, 0); }

}  // namespace headroom::dry_run
