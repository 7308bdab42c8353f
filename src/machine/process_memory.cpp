// SPDX-License-Identifier: Apache-2.0
#include "src/machine/process_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace headroom {
namespace {

/// The number behind `key` in a file of "Key:  123 kB" lines, in bytes.
std::optional<std::int64_t> kib_field(const char* path, std::string_view key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::int64_t kib = 0;
    if (word == key && file >> kib) return kib * 1024;
  }
  return std::nullopt;
}

std::optional<std::int64_t> number_in(const char* path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;  // no such file, or "max"
}

/// What the control group (v2, then v1) still allows.
std::optional<std::int64_t> available_in_control_group() {
  struct Files {
    const char* limit;
    const char* used;
  };
  for (const Files& files : {Files{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
                             Files{"/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                   "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}) {
    const auto limit = number_in(files.limit);
    const auto used = number_in(files.used);
    if (limit && used) return std::max<std::int64_t>(0, *limit - *used);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> host_peak_bytes() { return kib_field("/proc/self/status", "VmHWM:"); }

std::optional<std::int64_t> available_host_bytes() {
  const auto system = kib_field("/proc/meminfo", "MemAvailable:");
  const auto group = available_in_control_group();
  if (system && group) return std::min(*system, *group);
  return system ? system : group;
}

void limit_host_memory(std::int64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) {
    throw std::system_error(errno, std::generic_category(), "getrlimit(RLIMIT_DATA)");
  }
  // The limit counts what is mapped already, so that comes on top.
  const std::int64_t mapped = kib_field("/proc/self/status", "VmData:").value_or(0);
  limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(mapped + bytes));
  if (setrlimit(RLIMIT_DATA, &limit) != 0) {
    throw std::system_error(errno, std::generic_category(), "setrlimit(RLIMIT_DATA)");
  }
}

}  // namespace headroom
