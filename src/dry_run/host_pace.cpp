// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/host_pace.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "src/dry_run/python_calls.h"
#include "src/dry_run/python_function.h"
#include "src/dry_run/torch_library.h"

namespace headroom::dry_run {
namespace {

/// c10::GradMode::is_enabled(): whether operators of this thread are recorded. Null: no PyTorch.
using IsRecording = bool (*)();
IsRecording find_grad_mode() {
  void* const library = loaded_library("libc10");
  return library == nullptr
             ? nullptr
             : reinterpret_cast<IsRecording>(dlsym(library, "_ZN3c108GradMode10is_enabledEv"));
}

bool has_python() {
  static const bool has = python_function<int()>("Py_IsInitialized") != nullptr;
  return has;
}

/// Backward runs in threads of its own, where nothing is recorded.
bool is_first_thread() { return getpid() == static_cast<pid_t>(syscall(SYS_gettid)); }

}  // namespace

Moment python_ns() {
  Moment ns = kPythonCallNs;
  const std::int64_t calls = take_python_calls();
  for (std::int64_t& each : ns) each *= calls;
  return ns;
}

Moment staging_ns(const Work& copy, std::int64_t bytes, bool to_device) {
  const std::array<double, kHosts>& rates = to_device ? kStagedToDevice : kStagedToHost;
  Moment longer{};
  for (std::size_t host = 0; host < kHosts; ++host) {
    const double staging = static_cast<double>(bytes) / rates[host] * 1e9;
    longer[host] = std::max<std::int64_t>(0, std::llround(staging) - copy.all_ns());
  }
  return longer;
}

Moment launch_ns(const Work& work) {
  if (work.is_compiled) return kCompiledLaunchNs;
  static const IsRecording is_recording = find_grad_mode();
  const LaunchPace& pace = has_python() ? kPythonPace : kCxxPace;
  thread_local const bool is_first = is_first_thread();
  const bool is_recorded = is_recording != nullptr && is_recording();
  return {0, is_recorded || !is_first ? pace.autograd_ns : pace.other_ns, kSlowLaunchNs};
}

}  // namespace headroom::dry_run
