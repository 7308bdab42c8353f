// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::dry_run {

/// The shared memory that a block may have without asking, on every GPU of this table.
inline constexpr std::int64_t kSharedMemoryPerBlockBytes = 48 * 1024;

/// What a compute capability fixes, by the table "Technical Specifications per Compute Capability"
/// of https://docs.nvidia.com/cuda/cuda-c-programming-guide/.
struct Capability {
  int major;
  int minor;
  int max_threads_per_multiprocessor;
  int max_blocks_per_multiprocessor;
  int registers_per_multiprocessor;
  std::int64_t shared_memory_per_multiprocessor_bytes;
  std::int64_t shared_memory_per_block_optin_bytes;  // at most, for a kernel that asks for it
};

/// What tensor cores achieve of their peak while they multiply, and how long a product takes
/// beside: start_ns + FLOPs / (share x peak), and a part of the time that its result takes to
/// write; and what lanes achieve of theirs, where there are no tensor cores for a product.
struct AchievedProducts {
  double share;
  std::int64_t start_ns;
  double plain_share;
};

/// What a GPU draws while it works, and the limit beyond which it lowers its clock. All 0: not
/// known, and the clock never falls.
struct Power {
  double limit_watts;
  double idle_watts;       // at its full clock, with hardly anything to do
  double joules_per_flop;  // of products of 16 bits, at the full clock; of others by their peaks
  double joules_per_byte;  // of its memory
};

/// A GPU as the CUDA runtime describes it, and how fast it is by its data sheet.
struct Gpu {
  std::string_view name;     // for `--gpu`
  const char* product;       // what the driver calls it
  std::string_view summary;  // which variant, for people

  /// The total of cudaMemGetInfo and cudaDeviceProp::totalGlobalMem. It is less than nvidia-smi
  /// prints (H200: 143156 against 143771 MiB), and moves by up to 1 % from driver to driver.
  std::int64_t memory_bytes;

  /// What a training process of PyTorch takes outside its allocator, with lazily loaded kernels
  /// (the default since CUDA 11.7) and without NCCL. Known to about 100 MiB: it grows with each
  /// kernel that a run loads. Eagerly loaded kernels took two to three times as much.
  std::int64_t context_bytes;

  Capability capability;
  int multiprocessors;
  std::int64_t l2_bytes;
  int memory_bus_bits;
  int memory_clock_khz;  // two transfers a clock

  // Peak rates, per second. No sparsity. 0 where the tensor cores lack the type.
  double memory_bytes_per_second;
  double float64_flops;        // tensor cores where they are faster
  double float32_flops;        // no tensor cores
  double tensorfloat32_flops;  // tensor cores, as all below
  double float16_flops;        // accumulated in float32, for which GeForce has half the rate
  double bfloat16_flops;       // likewise

  AchievedProducts products;
  Power power{};

  // In one direction, after the line code of PCIe and before the headers of its packets.
  double host_bytes_per_second;
  double peer_bytes_per_second;  // to another GPU of the same machine

  std::string_view source;  // where the figures come from, and which of them are assumed
};

/// All GPUs.
std::span<const Gpu> gpu_table();

/// Their names, in the table's order.
std::vector<std::string> gpu_names();

/// The GPU that is played where nobody names one.
inline constexpr std::string_view kDefaultGpu = "h200";

/// The GPU of that name: one that was added (gpu_figures.h), or of the table. Null: there is none.
const Gpu* find_gpu(std::string_view name);

enum class Precision { float64, float32, tensorfloat32, float16, bfloat16, float8 };

/// Whether its tensor cores multiply for groups of warps at once, as those of Hopper and of
/// Blackwell's data centre GPUs do. A GeForce of Blackwell multiplies as Ampere did.
bool multiplies_for_groups_of_warps(const Gpu& gpu);

/// Whether products wait for its tensor cores alone, and not these for what they are fed with, as
/// on a GeForce and an A10G, whose tensor cores are half as fast with sums of 32 bits.
bool waits_for_tensor_cores(const Gpu& gpu);

/// Of a multiprocessor, for float32, by the table "Arithmetic Instructions" of the CUDA programming
/// guide: 8.6 and later have 128.
int lanes(const Gpu& gpu);

/// Cycles a second, by which a lane multiplies and adds at its peak.
double clock_rate(const Gpu& gpu);

/// The peak rate of a matrix product in FLOP/s. A type that the tensor cores lack is computed at
/// the rate of float32, float8 at that of float16.
double peak_flops(const Gpu& gpu, Precision precision);

}  // namespace headroom::dry_run
