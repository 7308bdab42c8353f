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
  for (const char c : script) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return "__import__('builtins').exec(__import__('builtins').bytes.fromhex('" + hex +
         "'), {'__name__': 'headroom'})\n";
}

}  // namespace

void run_python_scripts() {
  static std::atomic<bool> have_run = false;
  if (have_run) return;
  auto* const is_initialized = python_function<int()>("Py_IsInitialized");
  auto* const may_run = python_function<int()>("PyGILState_Check");
  auto* const run = python_function<int(const char*, void*)>("PyRun_SimpleStringFlags");
  if (is_initialized == nullptr || may_run == nullptr || run == nullptr) return;
  if (is_initialized() == 0 || may_run() == 0 || have_run.exchange(true)) return;
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

}  // namespace headroom::dry_run
