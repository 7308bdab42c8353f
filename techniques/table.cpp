// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "src/core/table.h"
#include "techniques/technique.h"

namespace headroom {

// Each stands at the end of its technique's file.
extern const TechniqueEntry kGradientAccumulation, kMixedPrecision, kBfloat16, kSgd, kLora,
    kOnDeviceInit, kActivationCheckpointing, kActivationOffload, kCompressedActivations,
    kRecomputedNonlinearity, kChunkedLoss, kOptimizerOffload, kOptimizerInBackward, kCudaGraphs,
    kDdp, kZero1, kZero2, kFsdp, kTensorParallel, kCpuOffload, kLayerStreaming;

std::span<const TechniqueEntry> technique_table() {
  static const std::array kTechniques{
      kGradientAccumulation,
      kMixedPrecision,
      kBfloat16,
      kSgd,
      kLora,
      kOnDeviceInit,
      kActivationCheckpointing,
      kActivationOffload,
      kCompressedActivations,
      kRecomputedNonlinearity,
      kChunkedLoss,
      kOptimizerOffload,
      kOptimizerInBackward,
      kCudaGraphs,
      kDdp,
      kZero1,
      kZero2,
      kFsdp,
      kTensorParallel,
      kCpuOffload,
      kLayerStreaming,
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
  return find_entry(technique_table(), "technique", name);
}

}  // namespace headroom
