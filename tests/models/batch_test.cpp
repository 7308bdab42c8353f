// SPDX-License-Identifier: Apache-2.0
#include "models/batch.h"

#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

namespace headroom {
namespace {

Batch four_texts() {
  return {.inputs = at::arange(12).view({4, 3}),
          .attention_mask = at::arange(12).view({4, 3}).remainder(2),
          .labels = at::arange(4)};
}

TEST(Batch, SlicesAreViews) {
  const Batch batch = four_texts();
  const Batch part = batch.slice(1, 2);
  EXPECT_EQ(part.size(), 2);
  EXPECT_TRUE(part.inputs.equal(batch.inputs.narrow(0, 1, 2)));
  EXPECT_TRUE(part.attention_mask.equal(batch.attention_mask.narrow(0, 1, 2)));
  EXPECT_TRUE(part.labels.equal(batch.labels.narrow(0, 1, 2)));
  EXPECT_TRUE(part.inputs.is_alias_of(batch.inputs));
}

TEST(Batch, MovesAllThereIs) {
  const Batch moved = four_texts().to(at::kMeta);
  EXPECT_TRUE(moved.inputs.is_meta());
  EXPECT_TRUE(moved.attention_mask.is_meta());
  EXPECT_TRUE(moved.labels.is_meta());
}

TEST(Batch, WhatIsUndefinedStaysSo) {
  const Batch images{.inputs = at::arange(12).view({4, 3}), .attention_mask = {}, .labels = {}};
  for (const Batch& batch : {images.slice(0, 1), images.to(at::kCPU)}) {
    EXPECT_TRUE(batch.inputs.defined());
    EXPECT_FALSE(batch.attention_mask.defined());
    EXPECT_FALSE(batch.labels.defined());
  }
}

}  // namespace
}  // namespace headroom
