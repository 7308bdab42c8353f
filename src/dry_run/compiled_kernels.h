// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace headroom::dry_run {

/// Kernels that are compiled while the program runs. What one moves is not known, so that it counts
/// by its threads. A program compiles one several times, with other blocks and numbers of threads,
/// to keep the fastest. All of these move the same: where one is launched first, it moves what the
/// last of its name did. Safe to call from any thread.
class CompiledKernels {
 public:
  struct Kernel;

  /// Stays valid.
  Kernel* add(const std::string& name);
  /// What a launch of more than no threads moves.
  std::int64_t bytes(Kernel& kernel, std::int64_t threads);

 private:
  std::mutex mutex_;
  std::deque<Kernel> kernels_;
  std::map<std::string, std::int64_t> last_bytes_;  // of a name
};

struct CompiledKernels::Kernel {
  const std::string* name;
  std::int64_t* last_bytes;     // of its name; 0: none was launched yet
  double bytes_per_thread = 0;  // 0: it was not launched yet
};

}  // namespace headroom::dry_run
