// SPDX-License-Identifier: Apache-2.0
// What NCCL takes for itself, against what others measured of it.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "src/dry_run/nccl_buffers.h"

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kMebi = 1 << 20;
constexpr std::int64_t kKernels = 108 * kMebi;
constexpr int kOfMachine = 8;

const Gpu& gpu(const char* name) { return *find_gpu(name); }

/// A GPU on which NCCL's kernels lie already.
struct Machine {
  explicit Machine(std::int64_t total = 80LL << 30) : memory(total, 0, false) {
    EXPECT_TRUE(nccl.take(0));
  }

  std::int64_t used() const { return memory.used() - kKernels; }

  GpuMemory memory;
  NcclMemory nccl{memory};
};

/// MiB that a communicator takes as it is made, and for an all-reduce of so many bytes.
std::int64_t taken(const char* name, int version, int ranks, int rank, std::int64_t reduced = 0) {
  Machine machine;
  NcclBuffers buffers(machine.nccl, gpu(name), nccl_setup(version), ranks, rank, kOfMachine);
  EXPECT_TRUE(buffers.initialize());
  EXPECT_TRUE(buffers.connect_ranks(reduced));
  return machine.used() / kMebi;
}

// github.com/NVIDIA/nccl/issues/964: of four A100, in August 2023, a group of two took 544 MB and a
// larger one 688, on rank 0. Ranks in the middle of the chain have one connection more.
TEST(NcclBuffers, are_those_of_four_a100_with_nccl_before_2_19) {
  constexpr int kVersion = 21403;
  EXPECT_EQ(taken("a100-80gb", kVersion, 2, 0), 544);
  EXPECT_EQ(taken("a100-80gb", kVersion, 3, 0), 688);
  EXPECT_EQ(taken("a100-80gb", kVersion, 4, 0), 688);
  EXPECT_EQ(taken("a100-80gb", kVersion, 4, 1), 688 + 24 * 6);
  EXPECT_EQ(taken("a100-80gb", kVersion, 4, 3), 688);
}

// issues/2363: the pool for other machines was 536,870,912 bytes of a communicator of one rank, by
// 2.28.9 without late connections; pull/2366: with them it is not there.
TEST(NcclBuffers, of_one_rank_are_small_allocations_with_pages_of_their_own) {
  Machine machine;
  const auto taken_by = [&](const NcclSetup& setup) {
    NcclBuffers buffers(machine.nccl, gpu("b200"), setup, 1, 0, kOfMachine);
    EXPECT_TRUE(buffers.initialize());
    return machine.used();
  };
  EXPECT_EQ(taken_by({}), 388 * kMebi);
  EXPECT_EQ(taken_by({.connects_late = false}), 388 * kMebi + 536'870'912);
  EXPECT_EQ(machine.used(), 0) << "given back";
  EXPECT_EQ(machine.nccl.peak_bytes(), kKernels + 388 * kMebi + 536'870'912);
}

// issues/1685: buffers of 10,485,760 and 2,097,152 bytes, for 32 channels to each of 7 others.
TEST(NcclBuffers, connect_each_pair_of_ranks_that_send) {
  Machine machine;
  NcclBuffers buffers(machine.nccl, gpu("h100"), {}, 8, 3, kOfMachine);
  EXPECT_TRUE(buffers.connect_to(4));
  EXPECT_TRUE(buffers.connect_to(4)) << "once";
  EXPECT_EQ(machine.used(), 32 * 2'097'152);
  EXPECT_TRUE(buffers.connect_from(4));
  EXPECT_EQ(machine.used(), 32 * (2'097'152 + 10'485'760));
  EXPECT_TRUE(buffers.connect_to(3) && buffers.connect_from(3)) << "itself";
  EXPECT_TRUE(buffers.connect_to(8) && buffers.connect_from(8)) << "of another machine";
  EXPECT_EQ(machine.used(), 32 * (2'097'152 + 10'485'760));
}

// A log of eight H100 with 2.28: "nvlsPerRankSize 33554432 nvlsTotalSize 268435456".
TEST(NcclBuffers, multicast_large_sums_where_links_can) {
  const auto more = [](const char* name, int version, int ranks, std::int64_t reduced) {
    return taken(name, version, ranks, 1, reduced) - taken(name, version, ranks, 1);
  };
  const std::int64_t rings = 24 * 12;
  EXPECT_EQ(more("h100", 22809, 8, 64 * kMebi), 268'435'456 / kMebi - rings);
  EXPECT_EQ(more("h100", 22809, 8, 1000), 0) << "a small one goes along the rings";
  EXPECT_EQ(more("h100", 22809, 2, 64 * kMebi), 0);
  EXPECT_EQ(more("a100-80gb", 22809, 8, 64 * kMebi), 0);
  EXPECT_EQ(more("h100", 22005, 8, 64 * kMebi), 0) << "is there from the beginning";
  EXPECT_EQ(taken("h100", 22005, 8, 0) - taken("h100", 22005, 2, 0),
            24 * 10 /* trees */ + (24 + 1) * 2 + 24 * 2 * 8 * 6);
}

TEST(NcclBuffers, follow_the_variables_of_nccl) {
  const auto with = [](const char* name, const char* value) {
    setenv(name, value, 1);
    const std::int64_t bytes = taken("h100", 22809, 8, 0, 64 * kMebi);
    unsetenv(name);
    return bytes;
  };
  const std::int64_t small = 2 * (3 * 32 + 2);
  const std::int64_t small_of_multicast = 2 * (16 + 1);
  EXPECT_EQ(taken("h100", 22809, 8, 0, 64 * kMebi), small + small_of_multicast + 256);
  EXPECT_EQ(with("NCCL_NVLS_ENABLE", "0"), small + 24 * 12);
  EXPECT_EQ(with("NCCL_CUMEM_ENABLE", "0"), 24 * (12 + 10) + 256 + 256);
  EXPECT_EQ(with("NCCL_RUNTIME_CONNECT", "0"),
            small + small_of_multicast + 24 * (12 + 10) + 256 + 256);
  setenv("NCCL_BUFFSIZE", "1048576", 1);
  EXPECT_EQ(taken("h100", 22809, 2, 0), small + small_of_multicast + 24 * (2 + 8));
  unsetenv("NCCL_BUFFSIZE");
}

TEST(NcclBuffers, of_gpus_without_nvlink_are_few) {
  EXPECT_EQ(taken("l40s", 22809, 4, 0), 2 * (3 * 2 + 2) + 2 * 12);
}

TEST(NcclBuffers, say_where_the_device_has_not_enough) {
  Machine machine(200 * kMebi);
  NcclBuffers buffers(machine.nccl, gpu("h100"), {}, 8, 0, kOfMachine);
  EXPECT_FALSE(buffers.initialize());
  EXPECT_EQ(machine.used(), 0);
  EXPECT_EQ(machine.memory.refused_bytes(), 2 * (3 * 32 + 2 + 16 + 1) * kMebi);
}

}  // namespace
}  // namespace headroom::dry_run
