// SPDX-License-Identifier: Apache-2.0
#include "src/memory/streams.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

namespace headroom {
namespace {

TEST(CopyStreamTest, OnTheCpuACopyIsDoneAtOnce) {
  CopyStream stream(at::kCPU);
  const at::Tensor source = at::arange(10.0);
  const at::Tensor target = at::zeros_like(source);
  const CopyStream::Mark mark = stream.copy(target, source);
  const at::Tensor expected = source.clone();
  source.zero_();  // the copy does not read its source later
  EXPECT_EQ(mark.event, nullptr);
  stream.wait(mark);
  stream.join();
  EXPECT_TRUE(at::equal(target, expected));
}

}  // namespace
}  // namespace headroom
