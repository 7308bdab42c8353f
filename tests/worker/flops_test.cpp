// SPDX-License-Identifier: Apache-2.0
#include "src/worker/flops.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <thread>

#include "models/attention.h"

namespace headroom {
namespace {

at::Tensor random(at::IntArrayRef shape) { return at::randn(shape).requires_grad_(); }

TEST(FlopsTest, ALinearLayerForwardAndBackward) {
  const at::Tensor x = random({6, 10});
  const at::Tensor weight = random({20, 10});
  const at::Tensor bias = random({20});
  const FlopCounter flops;
  const at::Tensor y = at::linear(x, weight, bias);
  EXPECT_EQ(flops.so_far().all, 2 * 6 * 10 * 20);
  y.sum().backward();  // as much for x, as much for the weight
  EXPECT_EQ(flops.so_far().all, 3 * 2 * 6 * 10 * 20);
  EXPECT_EQ(flops.so_far().low_precision, 0);
}

TEST(FlopsTest, MoreThanAnIntegerHoldsIsAnErrorAndNoOtherNumber) {
  // One number, seen as large matrices; on the device "meta" nothing is computed.
  const at::Tensor one = at::empty({1}, at::TensorOptions().device(at::kMeta));
  const std::int64_t size = std::int64_t{1} << 20;
  const at::Tensor large = one.expand({size, size});
  const FlopCounter flops;
  at::mm(large, large);  // 2^61
  EXPECT_EQ(flops.so_far().all, std::int64_t{1} << 61);
  for (int i = 0; i < 3; ++i) at::mm(large, large);
  EXPECT_THROW(flops.so_far(), std::overflow_error);
}

TEST(FlopsTest, AConvolutionWithItsPaddingAsOneNumber) {
  const at::Tensor x = random({2, 3, 9, 7});
  const at::Tensor weight = random({5, 3, 3, 3});
  const FlopCounter flops;
  const at::Tensor y = at::conv2d(x, weight, {}, /*stride=*/2, /*padding=*/1);
  const std::int64_t outputs = 2 * 5 * 5 * 4;  // (9 + 2 - 3) / 2 + 1 rows, (7 + 2 - 3) / 2 + 1
  ASSERT_EQ(y.numel(), outputs);
  EXPECT_EQ(flops.so_far().all, 2 * outputs * 3 * 3 * 3);
  y.sum().backward();
  EXPECT_EQ(flops.so_far().all, 3 * 2 * outputs * 3 * 3 * 3);
}

TEST(FlopsTest, AConvolutionWhoseInputNeedsNoGradient) {
  const at::Tensor x = at::randn({1, 3, 8, 8});
  const at::Tensor weight = random({4, 3, 4, 4});
  const FlopCounter flops;
  at::conv2d(x, weight, {}, /*stride=*/4).sum().backward();
  EXPECT_EQ(flops.so_far().all, 2 * 2 * (4 * 2 * 2) * (3 * 4 * 4));
}

TEST(FlopsTest, FlashAttentionForwardAndBackward) {
  const at::Tensor q = random({2, 3, 8, 16});  // (B, H, T, D)
  const at::Tensor k = random({2, 3, 8, 16});
  const at::Tensor v = random({2, 3, 8, 16});
  const std::int64_t product = 2 * 2 * 3 * 8 * 8 * 16;
  const FlopCounter flops;
  const at::Tensor y = attend(Attention::flash, q, k, v, {}, 0.0);
  EXPECT_EQ(flops.so_far().all, 2 * product);
  y.sum().backward();
  EXPECT_EQ(flops.so_far().all, (2 + 5) * product);
}

TEST(FlopsTest, EagerAttentionIsTwoProducts) {
  const at::Tensor q = at::randn({2, 3, 8, 16});
  const FlopCounter flops;
  attend(Attention::eager, q, q, q, {}, 0.0);
  EXPECT_EQ(flops.so_far().all, 2 * 2 * 2 * 3 * 8 * 8 * 16);
}

TEST(FlopsTest, AnOperatorInsideOfACountedOneDoesNotCountAgain) {
  const FlopCounter flops;
  at::matmul(at::randn({4, 5, 6}), at::randn({4, 6, 7}));  // matmul calls bmm
  EXPECT_EQ(flops.so_far().all, 2 * 4 * 5 * 6 * 7);
  at::matmul(at::randn({5, 6}), at::randn({6, 7}));  // the next one counts as well
  EXPECT_EQ(flops.so_far().all, 2 * 4 * 5 * 6 * 7 + 2 * 5 * 6 * 7);
}

TEST(FlopsTest, TellsThoseIn16Bits) {
  const FlopCounter flops;
  const at::Tensor x = at::randn({4, 6}).to(at::kBFloat16);
  at::matmul(x, x.t());
  EXPECT_EQ(flops.so_far().low_precision, 2 * 4 * 6 * 4);
  EXPECT_EQ(flops.so_far().all, flops.so_far().low_precision);
}

TEST(FlopsTest, CountsAllThreadsAndOnlyWhileItLives) {
  const at::Tensor x = at::randn({4, 4});
  {
    const FlopCounter flops;
    std::thread([&] { at::matmul(x, x); }).join();
    EXPECT_EQ(flops.so_far().all, 128);
  }
  at::matmul(x, x);
  const FlopCounter fresh;
  EXPECT_EQ(fresh.so_far().all, 0);
}

}  // namespace
}  // namespace headroom
