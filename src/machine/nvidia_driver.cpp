// SPDX-License-Identifier: Apache-2.0
#include "src/machine/nvidia_driver.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace headroom {
namespace {

/// "/dev/nvidia0": other names that begin so are the driver's own.
bool is_gpu(std::string_view name) {
  constexpr std::string_view kStart = "nvidia";
  return name.starts_with(kStart) && name.size() > kStart.size() &&
         std::isdigit(static_cast<unsigned char>(name[kStart.size()])) != 0;
}

bool has_gpu(const std::string& root) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/dev", none)) {
    if (is_gpu(entry.path().filename().string())) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> nvidia_driver(const std::string& root) {
  if (!has_gpu(root)) return std::nullopt;
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.57.02  Tue Jul 13 16:14:05 UTC 2021"
  std::ifstream file(root + "/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    const bool is_version = word.find_first_not_of("0123456789.") == std::string::npos &&
                            word.find('.') != std::string::npos;
    if (is_version) return word;
  }
  return std::nullopt;
}

}  // namespace headroom
