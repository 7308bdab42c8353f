// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/compiled_kernels.h"

#include <cmath>

#include "src/dry_run/work.h"

namespace headroom::dry_run {

CompiledKernels::Kernel* CompiledKernels::add(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& [kept_name, bytes] = *last_bytes_.try_emplace(name).first;
  return &kernels_.emplace_back(Kernel{.name = &kept_name, .last_bytes = &bytes});
}

std::int64_t CompiledKernels::bytes(Kernel& kernel, std::int64_t threads) {
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<double>(threads);
  if (kernel.bytes_per_thread == 0) {
    kernel.bytes_per_thread = *kernel.last_bytes == 0
                                  ? static_cast<double>(kBytesPerThread)
                                  : static_cast<double>(*kernel.last_bytes) / count;
  }
  *kernel.last_bytes = std::llround(kernel.bytes_per_thread * count);
  return *kernel.last_bytes;
}

}  // namespace headroom::dry_run
