// SPDX-License-Identifier: Apache-2.0
#include "models/attention.h"

#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <string>

#include "src/core/enum_names.h"
#include "src/core/error.h"

namespace headroom {
namespace {

// B = 2, H = 3, T = 5, D = 8
at::Tensor values() { return at::randn({2, 3, 5, 8}); }

at::Tensor some_padding() {
  at::Tensor mask = at::ones({2, 5}, at::kLong);
  mask.select(0, 1).narrow(0, 2, 3).zero_();
  return mask;
}

std::string refusal(Attention kind, const at::Tensor& mask, double dropout) {
  const at::Tensor x = values();
  try {
    attend(kind, x, x, x, mask, dropout);
  } catch (const Unsupported& error) {
    return error.what();
  }
  return "served";
}

TEST(Attention, KernelsAgree) {
  const at::Tensor q = values();
  const at::Tensor k = values();
  const at::Tensor v = values();
  for (const at::Tensor& mask : {at::Tensor(), key_mask(some_padding())}) {
    const at::Tensor expected = attend(Attention::eager, q, k, v, mask, 0.0);
    ASSERT_EQ(expected.sizes(), q.sizes());
    for (const Attention kind : {Attention::flash, Attention::math, Attention::eager_torch_1_10}) {
      EXPECT_TRUE(at::allclose(attend(kind, q, k, v, mask, 0.0), expected, 1e-4, 1e-6));
    }
  }
}

TEST(Attention, KeysThatDoNotCountChangeNothing) {
  const at::Tensor q = values();
  const at::Tensor k = values();
  const at::Tensor v = values();
  const at::Tensor mask = key_mask(some_padding());
  at::Tensor other_k = k.clone();
  at::Tensor other_v = v.clone();
  other_k.select(0, 1).narrow(1, 2, 3).fill_(7.0);
  other_v.select(0, 1).narrow(1, 2, 3).fill_(7.0);
  for (const Attention kind :
       {Attention::eager, Attention::flash, Attention::math, Attention::eager_torch_1_10}) {
    EXPECT_TRUE(at::allclose(attend(kind, q, k, v, mask, 0.0),
                             attend(kind, q, other_k, other_v, mask, 0.0)));
  }
}

TEST(Attention, KernelsAgreeOnThePast) {
  const at::Tensor q = values();
  const at::Tensor k = values();
  const at::Tensor v = values();
  const at::Tensor last_only = attend(Attention::eager, q, k, v, {}, 0.0).select(2, 4);
  for (const at::Tensor& mask : {at::Tensor(), key_mask(some_padding())}) {
    const at::Tensor expected = attend_to_past(Attention::eager, q, k, v, mask, 0.0);
    EXPECT_TRUE(at::allclose(expected.select(2, 0), v.select(2, 0)));  // it has no other key
    EXPECT_EQ(at::allclose(expected.select(2, 4), last_only), !mask.defined());
    for (const Attention kind : {Attention::flash, Attention::math, Attention::eager_torch_1_10}) {
      EXPECT_TRUE(at::allclose(attend_to_past(kind, q, k, v, mask, 0.0), expected, 1e-4, 1e-6));
    }
  }
}

TEST(Attention, EagerServesHalfPrecisionWithAMask) {
  const at::Tensor x = values();
  for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
    const at::Tensor y = x.to(dtype);
    const at::Tensor result = attend(Attention::eager, y, y, y, key_mask(some_padding()), 0.0);
    EXPECT_TRUE(at::allclose(result.to(at::kFloat),
                             attend(Attention::eager, x, x, x, key_mask(some_padding()), 0.0), 0.05,
                             0.05));
  }
}

TEST(Attention, NeverFallsBackToAnotherKernel) {
  for (const Attention kind : {Attention::efficient, Attention::cudnn}) {
    const std::string name(enum_name(kind));
    EXPECT_EQ(refusal(kind, {}, 0.0),
              "attention '" + name +
                  "': PyTorch has no such kernel for Float on cpu (heads of "
                  "width 8)");
  }
  EXPECT_EQ(
      refusal(Attention::flash, key_mask(some_padding()), 0.1),
      "attention 'flash': PyTorch has no such kernel for Float on cpu with a padding mask with "
      "dropout of the attention weights (heads of width 8)");
  EXPECT_EQ(refusal(Attention::math, {}, 0.1), "served");
  EXPECT_EQ(refusal(Attention::eager, {}, 0.1), "served");
}

TEST(Attention, OtherFaultsStayWhatTheyAre) {
  EXPECT_THROW(attend(Attention::math, values(), at::randn({2, 3, 5, 7}), values(), {}, 0.0),
               c10::Error);
}

TEST(Attention, LeavesPyTorchsChoiceAsItWas) {
  at::Context& context = at::globalContext();
  context.setSDPUseMemEfficient(false);
  const at::Tensor x = values();
  attend(Attention::flash, x, x, x, {}, 0.0);
  refusal(Attention::cudnn, {}, 0.0);
  EXPECT_TRUE(context.userEnabledFlashSDP());
  EXPECT_TRUE(context.userEnabledMathSDP());
  EXPECT_TRUE(context.userEnabledCuDNNSDP());
  EXPECT_FALSE(context.userEnabledMemEfficientSDP());
  context.setSDPUseMemEfficient(true);
}

TEST(Attention, HeadsAreSplitAndMerged) {
  const at::Tensor x = at::randn({2, 5, 24});
  const at::Tensor heads = split_heads(x, 8);
  EXPECT_EQ(heads.sizes(), (std::vector<std::int64_t>{2, 3, 5, 8}));
  EXPECT_TRUE(heads.select(1, 1).equal(x.narrow(2, 8, 8)));
  EXPECT_TRUE(merge_heads(heads).equal(x));
}

}  // namespace
}  // namespace headroom
