// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/live_blocks.h"

#include <gtest/gtest.h>

namespace headroom::dry_run {
namespace {

const char* block_at(std::uintptr_t address) { return reinterpret_cast<const char*>(address); }

TEST(LiveBlocks, TellHowFarItIsToTheEnd) {
  LiveBlocks blocks;
  EXPECT_EQ(blocks.behind(block_at(0x1000)), 0);
  blocks.note(block_at(0x1000), 512);
  blocks.note(block_at(0x1200), 1024);
  EXPECT_EQ(blocks.behind(block_at(0x1000)), 512);
  EXPECT_EQ(blocks.behind(block_at(0x1010)), 496);
  EXPECT_EQ(blocks.behind(block_at(0x1200)), 1024);
  EXPECT_EQ(blocks.behind(block_at(0x1600)), 0);
  EXPECT_EQ(blocks.behind(block_at(0xfff)), 0);
  EXPECT_EQ(blocks.behind(block_at(UINTPTR_MAX)), 0);
  blocks.note(block_at(0x1000), -512);
  EXPECT_EQ(blocks.behind(block_at(0x1010)), 0);
}

}  // namespace
}  // namespace headroom::dry_run
