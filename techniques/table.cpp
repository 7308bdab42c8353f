// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "src/core/error.h"
#include "techniques/technique.h"

namespace headroom {

// Each stands at the end of its technique's file.
extern const TechniqueEntry kGradientAccumulation, kMixedPrecision, kBfloat16, kSgd, kOnDeviceInit,
    kActivationCheckpointing, kActivationOffload, kOptimizerOffload, kOptimizerInBackward, kDdp,
    kZero1, kZero2, kFsdp, kTensorParallel, kCpuOffload;

std::span<const TechniqueEntry> technique_table() {
  static const std::array kTechniques{
      kGradientAccumulation,
      kMixedPrecision,
      kBfloat16,
      kSgd,
      kOnDeviceInit,
      kActivationCheckpointing,
      kActivationOffload,
      kOptimizerOffload,
      kOptimizerInBackward,
      kDdp,
      kZero1,
      kZero2,
      kFsdp,
      kTensorParallel,
      kCpuOffload,
  };
  return kTechniques;
}

std::vector<std::string_view> excluded_by(const TechniqueEntry& entry) {
  std::vector<std::string_view> names(entry.excludes.begin(), entry.excludes.end());
  for (const TechniqueEntry& other : technique_table()) {
    if (entry.joins_ranks && other.joins_ranks && other.name != entry.name) {
      names.push_back(other.name);
    }
  }
  return names;
}

const TechniqueEntry& find_technique(std::string_view name) {
  std::string allowed;
  for (const TechniqueEntry& entry : technique_table()) {
    if (entry.name == name) return entry;
    allowed += (allowed.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw ConfigError("no technique '" + std::string(name) + "'; there are: " + allowed);
}

}  // namespace headroom
