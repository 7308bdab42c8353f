// SPDX-License-Identifier: Apache-2.0
// What the order of techniques in a suite changes.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/techniques/contract.h"

namespace headroom {
namespace {

constexpr int kOrderSteps = 2;

// The order in which a suite lists sharding and what it wraps changes nothing: sharding wraps
// blocks and verbs before all others do.
TEST(OrderTest, ShardingIsInnermostWhereverItIsListed) {
  for (const char* sharding : {"zero_1", "zero_2", "fsdp", "cpu_offload", "tensor_parallel"}) {
    for (const char* other : {"activation_checkpointing", "activation_offload", "mixed_precision",
                              "gradient_accumulation"}) {
      SCOPED_TRACE(std::string(sharding) + " and " + other);
      const Trained first =
          train(with(mini_vit(), {contracted(sharding), contracted(other)}), kOrderSteps);
      const Trained last =
          train(with(mini_vit(), {contracted(other), contracted(sharding)}), kOrderSteps);
      EXPECT_TRUE(same_bits(first, last));
      EXPECT_EQ(first.evidence.gathers, last.evidence.gathers);
      EXPECT_EQ(first.evidence.offloaded_bytes, last.evidence.offloaded_bytes);
      EXPECT_EQ(first.init_peak_bytes, last.init_peak_bytes);
      // Its peak differs from run to run in any order, as gloo's thread drops a sum's tensor late.
      if (std::string_view(sharding) == "tensor_parallel") continue;
      EXPECT_EQ(first.steps_peak_bytes, last.steps_peak_bytes);
    }
  }
}

// Of two that wrap blocks, the one listed later is outside.
TEST(OrderTest, OffloadListedAfterCheckpointingMovesWhatItKeeps) {
  const char* checkpointing = "activation_checkpointing";
  const char* offload = "activation_offload";
  const Trained inside =
      train(with(small_vit(), {contracted(checkpointing), contracted(offload)}), 1);
  const Trained outside =
      train(with(small_vit(), {contracted(offload), contracted(checkpointing)}), 1);
  EXPECT_EQ(inside.inactive, "");
  EXPECT_EQ(inside.evidence.offloaded_bytes, 12 * 8 * 5 * 192 * 4);  // what enters 12 blocks
  EXPECT_GT(outside.evidence.offloaded_bytes, 5 * inside.evidence.offloaded_bytes);
  EXPECT_EQ(outside.evidence.recomputed_blocks, 0);
}

}  // namespace
}  // namespace headroom
