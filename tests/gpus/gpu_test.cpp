// SPDX-License-Identifier: Apache-2.0
// The table of GPUs against what is known of them in another way.
#include "src/gpus/gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>

namespace headroom::dry_run {
namespace {

struct Expected {
  std::string_view name;
  double memory_gb;  // as it is sold
  int capability;    // major x 10 + minor
  int cuda_cores;    // of its data sheet
};

constexpr Expected kExpected[] = {
    {"v100-16gb", 16, 70, 5120},
    {"v100-32gb", 32, 70, 5120},
    {"t4", 16, 75, 2560},
    {"a10", 24, 86, 9216},
    {"a10g", 24, 86, 10240},
    {"a40", 48, 86, 10752},
    {"a100-40gb", 40, 80, 6912},
    {"a100-80gb", 80, 80, 6912},
    {"a100-pcie-40gb", 40, 80, 6912},
    {"a100-pcie-80gb", 80, 80, 6912},
    {"l4", 24, 89, 7424},
    {"l40s", 48, 89, 18176},
    {"h100-pcie", 80, 90, 14592},
    {"h100-nvl", 94, 90, 16896},
    {"h100", 80, 90, 16896},
    {"gh200", 96, 90, 16896},
    {"h200", 141, 90, 16896},
    {"b200", 180, 100, 18944},
    {"rtx-2080-ti", 11, 75, 4352},
    {"rtx-8000", 48, 75, 4608},
    {"rtx-3080", 10, 86, 8704},
    {"rtx-3090", 24, 86, 10496},
    {"rtx-a6000", 48, 86, 10752},
    {"rtx-4090", 24, 89, 16384},
    {"rtx-6000-ada", 48, 89, 18176},
    {"rtx-5090", 32, 120, 21760},
    {"rtx-pro-6000", 96, 120, 24064},
};

int capability_of(const Gpu& gpu) { return gpu.capability.major * 10 + gpu.capability.minor; }

int cuda_cores_per_multiprocessor(int capability) { return capability <= 80 ? 64 : 128; }

bool near(double value, double expected, double tolerance) {
  return std::abs(value - expected) <= tolerance * expected;
}

TEST(Gpu, names_are_unique_and_found) {
  std::set<std::string_view> names, products;
  for (const Gpu& gpu : gpu_table()) {
    EXPECT_TRUE(names.insert(gpu.name).second) << gpu.name;
    EXPECT_TRUE(products.insert(gpu.product).second) << gpu.product;
    EXPECT_EQ(find_gpu(gpu.name), &gpu);
    EXPECT_FALSE(gpu.summary.empty()) << gpu.name;
    EXPECT_NE(gpu.source.find("https://"), std::string_view::npos) << gpu.name;
  }
  EXPECT_EQ(names.size(), std::size(kExpected));
  EXPECT_EQ(find_gpu("h100x"), nullptr);
  EXPECT_EQ(find_gpu(""), nullptr);
}

TEST(Gpu, has_the_memory_and_the_cores_of_its_data_sheet) {
  for (const Expected& expected : kExpected) {
    const Gpu* gpu = find_gpu(expected.name);
    ASSERT_NE(gpu, nullptr) << expected.name;
    EXPECT_TRUE(near(static_cast<double>(gpu->memory_bytes), expected.memory_gb * 1e9, 0.12))
        << expected.name << " has " << gpu->memory_bytes;
    EXPECT_EQ(capability_of(*gpu), expected.capability) << expected.name;
    EXPECT_EQ(gpu->multiprocessors * cuda_cores_per_multiprocessor(expected.capability),
              expected.cuda_cores)
        << expected.name;
    // Larger would be a slip of the unit; smaller, of the digits.
    EXPECT_GT(gpu->context_bytes, 100 << 20) << expected.name;
    EXPECT_LT(gpu->context_bytes, 1500 << 20) << expected.name;
  }
}

TEST(Gpu, has_the_limits_of_its_capability) {
  // The programming guide's: warps and blocks of a multiprocessor, and KiB of its shared memory.
  struct Limits {
    int capability, warps, blocks, shared_kib;
  };
  constexpr Limits kLimits[] = {{70, 64, 32, 96},   {75, 32, 16, 64},  {80, 64, 32, 164},
                                {86, 48, 16, 100},  {89, 48, 24, 100}, {90, 64, 32, 228},
                                {100, 64, 32, 228}, {120, 48, 24, 100}};
  for (const Gpu& gpu : gpu_table()) {
    const auto* limits =
        std::find_if(std::begin(kLimits), std::end(kLimits),
                     [&gpu](const Limits& one) { return one.capability == capability_of(gpu); });
    ASSERT_NE(limits, std::end(kLimits)) << gpu.name;
    EXPECT_EQ(gpu.capability.max_threads_per_multiprocessor, 32 * limits->warps) << gpu.name;
    EXPECT_EQ(gpu.capability.max_blocks_per_multiprocessor, limits->blocks) << gpu.name;
    EXPECT_EQ(gpu.capability.registers_per_multiprocessor, 64 * 1024) << gpu.name;
    EXPECT_EQ(gpu.capability.shared_memory_per_multiprocessor_bytes, limits->shared_kib * 1024)
        << gpu.name;
    // From 8.0 on the driver keeps 1 KiB of each block for itself.
    EXPECT_EQ(gpu.capability.shared_memory_per_multiprocessor_bytes -
                  gpu.capability.shared_memory_per_block_optin_bytes,
              gpu.capability.major >= 8 ? 1024 : 0)
        << gpu.name;
    EXPECT_GT(gpu.capability.shared_memory_per_block_optin_bytes, kSharedMemoryPerBlockBytes);
  }
}

TEST(Gpu, has_rates_that_agree_with_each_other) {
  for (const Gpu& gpu : gpu_table()) {
    // The H200's memory is sold with less than its clock gives.
    EXPECT_TRUE(near(gpu.memory_bytes_per_second,
                     gpu.memory_bus_bits / 8.0 * gpu.memory_clock_khz * 2e3, 0.03))
        << gpu.name;
    EXPECT_GT(gpu.float64_flops, 0) << gpu.name;
    EXPECT_LE(gpu.float64_flops, gpu.float32_flops) << gpu.name;
    EXPECT_LT(gpu.float32_flops, gpu.float16_flops) << gpu.name;
    EXPECT_GT(gpu.host_bytes_per_second, 15e9) << gpu.name;
    EXPECT_GE(gpu.peer_bytes_per_second, gpu.host_bytes_per_second) << gpu.name;
    EXPECT_LT(gpu.peer_bytes_per_second, gpu.memory_bytes_per_second) << gpu.name;
    EXPECT_GT(gpu.l2_bytes, 0) << gpu.name;

    // A core does one fused multiply-add a clock: all boost clocks lie between 1.3 and 2.7 GHz.
    const int cores = gpu.multiprocessors * cuda_cores_per_multiprocessor(capability_of(gpu));
    const double clock = gpu.float32_flops / 2 / cores;
    EXPECT_GT(clock, 1.3e9) << gpu.name;
    EXPECT_LT(clock, 2.7e9) << gpu.name;
  }
}

TEST(Gpu, has_tensor_cores_for_tensorfloat32_and_bfloat16_from_8_0_on) {
  for (const Gpu& gpu : gpu_table()) {
    const bool has = gpu.capability.major >= 8;
    EXPECT_EQ(gpu.tensorfloat32_flops > 0, has) << gpu.name;
    EXPECT_EQ(gpu.bfloat16_flops > 0, has) << gpu.name;
    if (!has) continue;
    EXPECT_EQ(gpu.bfloat16_flops, gpu.float16_flops) << gpu.name;
    // Half the rate: a sparse figure among dense ones would be off by two.
    EXPECT_TRUE(near(2 * gpu.tensorfloat32_flops, gpu.bfloat16_flops, 0.02)) << gpu.name;
  }
}

TEST(PeakFlops, of_a_type_without_tensor_cores_is_that_of_a_wider_one) {
  const Gpu& old = *find_gpu("v100-16gb");
  EXPECT_EQ(peak_flops(old, Precision::bfloat16), 15.7e12);
  EXPECT_EQ(peak_flops(old, Precision::tensorfloat32), 15.7e12);
  EXPECT_EQ(peak_flops(old, Precision::float16), 125e12);
  const Gpu& current = *find_gpu("h100");
  EXPECT_EQ(peak_flops(current, Precision::bfloat16), 989.4e12);
  EXPECT_EQ(peak_flops(current, Precision::tensorfloat32), 494.7e12);
  EXPECT_EQ(peak_flops(current, Precision::float32), 66.9e12);
  EXPECT_EQ(peak_flops(current, Precision::float8), 2 * 989.4e12);
  EXPECT_EQ(peak_flops(*find_gpu("a100-40gb"), Precision::float8), 312e12);
  EXPECT_EQ(peak_flops(*find_gpu("rtx-4090"), Precision::float64), 1.29e12);
}

// Where sums of 32 bits have half the rate: GeForces, and what AWS has in place of an A10.
TEST(Gpu, waits_for_tensor_cores_at_half_their_rate) {
  for (const Gpu& gpu : gpu_table()) {
    const bool is_geforce = std::string_view(gpu.product).find("GeForce") != std::string_view::npos;
    EXPECT_EQ(waits_for_tensor_cores(gpu), is_geforce || gpu.name == "a10g") << gpu.name;
  }
}

// No product is at the peak, and none is faster than a launch. At half the rate tensor cores are
// all that is waited for, and a clock beyond that of the data sheet exceeds the peak.
TEST(Gpu, achieves_a_part_of_its_peak) {
  for (const Gpu& gpu : gpu_table()) {
    EXPECT_GT(gpu.products.share, 0.3) << gpu.name;
    EXPECT_LT(gpu.products.share, waits_for_tensor_cores(gpu) ? 1.15 : 0.9) << gpu.name;
    EXPECT_GE(gpu.products.start_ns, 2000) << gpu.name;
    EXPECT_LE(gpu.products.start_ns, 10'000) << gpu.name;
  }
}

}  // namespace
}  // namespace headroom::dry_run
