// SPDX-License-Identifier: Apache-2.0
#include "techniques/table.h"

#include <array>
#include <string>

#include "src/core/error.h"
#include "techniques/activation_checkpointing.h"
#include "techniques/activation_offload.h"
#include "techniques/bfloat16.h"
#include "techniques/cpu_offload.h"
#include "techniques/ddp.h"
#include "techniques/fsdp.h"
#include "techniques/gradient_accumulation.h"
#include "techniques/mixed_precision.h"
#include "techniques/on_device_init.h"
#include "techniques/optimizer_in_backward.h"
#include "techniques/optimizer_offload.h"
#include "techniques/sgd.h"
#include "techniques/tensor_parallel.h"
#include "techniques/zero_1.h"
#include "techniques/zero_2.h"

namespace headroom {
namespace {

template <class T>
std::unique_ptr<Technique> make() {
  return std::make_unique<T>();
}

constexpr std::string_view kWithBfloat16[] = {"bfloat16"};
constexpr std::string_view kWithAccumulation[] = {"gradient_accumulation"};
// A parameter's gradient is there before it is that of all ranks.
constexpr std::string_view kWithRanks[] = {"optimizer_in_backward"};
constexpr std::string_view kWithTensorParallel[] = {"optimizer_in_backward", "cpu_offload"};
constexpr std::string_view kWithCpuOffload[] = {"ddp", "zero_1", "zero_2", "optimizer_offload",
                                                "optimizer_in_backward"};

// Of all weights, as under bfloat16.
constexpr RoundingOption kNarrowWeights{
    .option = "parameter_dtype", .loss_tolerance = 5e-2, .gradient_tolerance = 1e-1};

constexpr std::array kTechniques{
    TechniqueEntry{
        .name = "gradient_accumulation",
        .summary = "a batch in micro-batches whose gradients add up",
        .saves = "activations and temporaries of a batch, times 1 - 1 / micro_batches",
        .costs = "smaller products; gradients live through forward",
        .source = "rasbt/pytorch-memory-optim 05; arXiv:1811.06965",
        .make = &make<GradientAccumulation>,
        .loss_tolerance = 1e-5,
        .gradient_tolerance = 1e-4,
    },
    TechniqueEntry{
        .name = "mixed_precision",
        .summary = "products in 16 bits (autocast), weights in 32; a loss scaler for float16",
        .saves = "about half of the activations; adds a 16-bit copy of the weights, 2P",
        .costs = "casts; other rounding",
        .source = "Micikevicius et al. 2018, arXiv:1710.03740; torch.autocast",
        .make = &make<MixedPrecision>,
        .loss_tolerance = 2e-2,
        .gradient_tolerance = 5e-2,
        .excludes = kWithBfloat16,
    },
    TechniqueEntry{
        .name = "bfloat16",
        .summary = "weights, gradients, optimizer state and activations in bfloat16",
        .saves = "2P weights, 2P gradients, 4P Adam state, half of the activations",
        .costs = "8 bits of precision in the update",
        .source = "rasbt/pytorch-memory-optim 03 (bf16-true)",
        .make = &make<Bfloat16>,
        .loss_tolerance = 5e-2,
        .gradient_tolerance = 1e-1,
    },
    TechniqueEntry{
        .name = "sgd",
        .summary = "SGD in place of the suite's optimizer",
        .saves = "8P of Adam's state; 4P with momentum",
        .costs = "another optimizer: other learning rate, other convergence",
        .source = "rasbt/pytorch-memory-optim 06",
        .make = &make<SgdSwap>,
    },
    TechniqueEntry{
        .name = "on_device_init",
        .summary = "parameters are made where and as they stay, one by one",
        .saves = "4P of host memory; 2P on the device where weights end narrower than fp32",
        .costs = "nothing",
        .source = "rasbt/pytorch-memory-optim 07; Lightning Fabric init_module",
        .make = &make<OnDeviceInit>,
        // Another device draws other random weights: the loss of a new model lies near
        // log(classes).
        .loss_tolerance = 0.2,
        .gradient_tolerance = 0.5,
    },
    TechniqueEntry{
        .name = "activation_checkpointing",
        .summary = "blocks keep only their input and run again in backward",
        .saves = "all saved tensors of a block but its input, for every block but one",
        .costs = "one more forward of the blocks: a third of the step's FLOPs",
        .source = "Chen et al. 2016, arXiv:1604.06174; torch.utils.checkpoint",
        .make = &make<ActivationCheckpointing>,
    },
    TechniqueEntry{
        .name = "activation_offload",
        .summary = "what blocks save for backward waits in host memory",
        .saves = "all saved tensors of the blocks but one block's",
        .costs = "those bytes over the host link, twice a step",
        .source = "torch.autograd.graph.save_on_cpu; torchtune's activation offloading",
        .make = &make<ActivationOffload>,
    },
    TechniqueEntry{
        .name = "optimizer_offload",
        .summary = "optimizer state and update on the host",
        .saves = "8P of Adam's state on the device; puts 16P on the host",
        .costs = "4P over the host link each way a step; an update at the host's speed",
        .source = "ZeRO-Offload, Ren et al. 2021, arXiv:2101.06840",
        .make = &make<OptimizerOffload>,
    },
    TechniqueEntry{
        .name = "optimizer_in_backward",
        .summary = "each parameter is updated as soon as its gradient is there",
        .saves = "all gradients but the largest",
        .costs =
            "no accumulation, no clipping, no loss scaling (mixed_precision in float16): they need "
            "all gradients at once",
        .source = "PyTorch tutorial 'optimizer step in backward'; LOMO, arXiv:2306.09782",
        .make = &make<OptimizerInBackward>,
        .excludes = kWithAccumulation,
    },
    TechniqueEntry{
        .name = "ddp",
        .summary = "every rank has the whole model; gradients are averaged while backward runs",
        .saves = "nothing; what sharding is compared with",
        .costs = "2 (1 - 1/N) of the gradients' bytes between ranks; 4P for buckets",
        .source = "Li et al. 2020, arXiv:2006.15704; torch's DistributedDataParallel",
        .make = &make<Ddp>,
        .excludes = kWithRanks,
        .joins_ranks = true,
    },
    TechniqueEntry{
        .name = "zero_1",
        .summary = "each rank keeps the optimizer state of its part and updates that",
        .saves = "8P (1 - 1/N) of Adam's state; in 16 bits (parameter_dtype) 12P (1 - 1/N)",
        .costs = "as many bytes between ranks as ddp",
        .source = "Rajbhandari et al. 2020, arXiv:1910.02054 (P_os)",
        .make = &make<Zero1>,
        .rounds_by = kNarrowWeights,
        .excludes = kWithRanks,
        .joins_ranks = true,
    },
    TechniqueEntry{
        .name = "zero_2",
        .summary = "zero_1, and each rank keeps its part of the gradients alone",
        .saves = "zero_1's and 4P (1 - 1/N) of gradients; in 16 bits 14P (1 - 1/N) in all",
        .costs = "as zero_1; a reduction for each micro-batch",
        .source = "Rajbhandari et al. 2020, arXiv:1910.02054 (P_os+g)",
        .make = &make<Zero2>,
        .rounds_by = kNarrowWeights,
        .excludes = kWithRanks,
        .joins_ranks = true,
    },
    TechniqueEntry{
        .name = "fsdp",
        .summary = "zero_2, and blocks gather their weights when they run",
        .saves = "16P (1 - 1/N) of weights, gradients and Adam's state, but for the blocks at work",
        .costs = "P bytes more between ranks than ddp",
        .source = "Zhao et al. 2023, arXiv:2304.11277; torch's FullyShardedDataParallel",
        .make = &make<Fsdp>,
        .rounds_by = kNarrowWeights,
        .excludes = kWithRanks,
        .joins_ranks = true,
    },
    TechniqueEntry{
        .name = "tensor_parallel",
        .summary = "ranks share the products of each block, and work on the same samples",
        .saves = "16B (1 - 1/N) of B parameters in the blocks' products; activations between them",
        .costs = "four sums over ranks of a (B, T, D) tensor for each block",
        .source = "Shoeybi et al. 2019, arXiv:1909.08053; Korthikanti et al. 2022, "
                  "arXiv:2205.05198",
        .make = &make<TensorParallel>,
        .loss_tolerance = 1e-5,
        .gradient_tolerance = 1e-4,
        .excludes = kWithTensorParallel,
        .joins_ranks = true,
        .shares_batch = true,
    },
    TechniqueEntry{
        .name = "cpu_offload",
        .summary =
            "weights, state and update on the host; blocks fetch their weights when they run",
        .saves = "16P / N of weights, gradients and Adam's state, but for the blocks at work",
        .costs = "12P / N over the host link a step; an update at the host's speed",
        .source =
            "torch's FullyShardedDataParallel with CPUOffload; ZeRO-Offload, arXiv:2101.06840",
        .make = &make<CpuOffload>,
        .excludes = kWithCpuOffload,
    },
};

}  // namespace

std::span<const TechniqueEntry> technique_table() { return kTechniques; }

std::vector<std::string_view> excluded_by(const TechniqueEntry& entry) {
  std::vector<std::string_view> names(entry.excludes.begin(), entry.excludes.end());
  for (const TechniqueEntry& other : kTechniques) {
    if (entry.joins_ranks && other.joins_ranks && other.name != entry.name) {
      names.push_back(other.name);
    }
  }
  return names;
}

const TechniqueEntry& find_technique(std::string_view name) {
  std::string allowed;
  for (const TechniqueEntry& entry : kTechniques) {
    if (entry.name == name) return entry;
    allowed += (allowed.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw ConfigError("no technique '" + std::string(name) + "'; there are: " + allowed);
}

}  // namespace headroom
