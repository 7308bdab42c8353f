// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/python_scripts.h"

#include <atomic>
#include <string>
#include <string_view>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/python_calls.h"
#include "src/dry_run/python_function.h"

namespace headroom {
extern const std::string_view kMemorySnapshotScript;
extern const std::string_view kOnceInitializedScript;
extern const std::string_view kPeakHoldersScript;
extern const std::string_view kPeakResetsScript;
extern const std::string_view kReservedPeakScript;
extern const std::string_view kStepMemoryScript;
extern const std::string_view kStepTimesScript;
extern const std::string_view kStopAfterStepsScript;
}  // namespace headroom

namespace headroom::dry_run {
namespace {

/// With names of its own, so that the program's stay as they are.
std::string statement_of(std::string_view script) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string hex;
  const std::string whole = std::string(kOnceInitializedScript).append(script);
  for (const char c : whole) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return "__import__('builtins').exec(__import__('builtins').bytes.fromhex('" + hex +
         "'), {'__name__': 'headroom'})\n";
}

/// By a thread that may run Python now.
void run_all() {
  auto* const run = python_function<int(const char*, void*)>("PyRun_SimpleStringFlags");
  if (run == nullptr) return;
  count_python_calls();
  run(statement_of(kStepTimesScript).c_str(), nullptr);
  run(statement_of(kPeakResetsScript).c_str(), nullptr);
  const Settings& known = settings();
  if (!known.holders_folder.empty()) {
    std::string script(kReservedPeakScript);
    script.append(kPeakHoldersScript).append(kStepMemoryScript);
    run(statement_of(script).c_str(), nullptr);
  }
  if (!known.snapshot_file.empty()) run(statement_of(kMemorySnapshotScript).c_str(), nullptr);
  if (known.steps > 0) run(statement_of(kStopAfterStepsScript).c_str(), nullptr);
}

}  // namespace

void run_python_scripts() {
  static std::atomic<bool> have_begun = false;
  if (have_begun) return;
  auto* const is_initialized = python_function<int()>("Py_IsInitialized");
  auto* const may_run = python_function<int()>("PyGILState_Check");
  using Pending = int(void*);
  auto* const run_soon = python_function<int(Pending*, void*)>("Py_AddPendingCall");
  if (is_initialized == nullptr || may_run == nullptr || run_soon == nullptr) return;
  if (is_initialized() == 0 || have_begun.exchange(true)) return;
  if (may_run() != 0) {
    run_all();
    return;
  }
  // As where Tensor.pin_memory() is the first that asks. To wait for the interpreter here could be
  // to wait for a thread that waits for this one.
  const auto run_now = [](void*) {
    run_all();
    return 0;
  };
  run_soon(run_now, nullptr);
}

}  // namespace headroom::dry_run
