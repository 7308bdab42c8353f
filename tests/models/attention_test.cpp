// SPDX-License-Identifier: Apache-2.0
#include "models/attention.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "src/core/enum_names.h"
#include "src/core/error.h"
#include "src/memory/saved_tensors.h"

namespace headroom {
namespace {

// B = 2, H = 3, T = 5, D = 8
at::Tensor random_heads() { return at::randn({2, 3, 5, 8}); }

at::Tensor three_padded() {
  at::Tensor mask = at::ones({2, 5}, at::kLong);
  mask.select(0, 1).narrow(0, 2, 3).zero_();
  return mask;
}

std::string refusal(Attention kind, const at::Tensor& mask, double dropout) {
  const at::Tensor x = random_heads();
  try {
    attend(kind, x, x, x, mask, dropout);
  } catch (const Unsupported& error) {
    return error.what();
  }
  return "served";
}

TEST(Attention, KernelsAgree) {
  const at::Tensor q = random_heads();
  const at::Tensor k = random_heads();
  const at::Tensor v = random_heads();
  for (const at::Tensor& mask : {at::Tensor(), key_mask(three_padded())}) {
    const at::Tensor expected = attend(Attention::eager, q, k, v, mask, 0.0);
    ASSERT_EQ(expected.sizes(), q.sizes());
    for (const Attention kind : {Attention::flash, Attention::math, Attention::eager_torch_1_10}) {
      EXPECT_TRUE(at::allclose(attend(kind, q, k, v, mask, 0.0), expected, 1e-4, 1e-6));
    }
  }
}

TEST(Attention, KeysThatDoNotCountChangeNothing) {
  const at::Tensor q = random_heads();
  const at::Tensor k = random_heads();
  const at::Tensor v = random_heads();
  const at::Tensor mask = key_mask(three_padded());
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
  const at::Tensor q = random_heads();
  const at::Tensor k = random_heads();
  const at::Tensor v = random_heads();
  const at::Tensor last_only = attend(Attention::eager, q, k, v, {}, 0.0).select(2, 4);
  for (const at::Tensor& mask : {at::Tensor(), key_mask(three_padded())}) {
    const at::Tensor expected = attend_to_past(Attention::eager, q, k, v, mask, 0.0);
    EXPECT_TRUE(at::allclose(expected.select(2, 0), v.select(2, 0)));  // it has no other key
    EXPECT_EQ(at::allclose(expected.select(2, 4), last_only), !mask.defined());
    for (const Attention kind : {Attention::flash, Attention::math, Attention::eager_torch_1_10}) {
      EXPECT_TRUE(at::allclose(attend_to_past(kind, q, k, v, mask, 0.0), expected, 1e-4, 1e-6));
    }
  }
}

TEST(Attention, AHeadOfKeysServesSeveralOfQueries) {
  const at::Tensor q = at::randn({2, 6, 5, 8});
  const at::Tensor k = random_heads();
  const at::Tensor v = random_heads();
  const at::Tensor all_k = k.repeat_interleave(2, 1);
  const at::Tensor all_v = v.repeat_interleave(2, 1);
  for (const at::Tensor& mask : {at::Tensor(), key_mask(three_padded())}) {
    for (const Attention kind :
         {Attention::eager, Attention::flash, Attention::math, Attention::eager_torch_1_10}) {
      EXPECT_TRUE(at::allclose(attend(kind, q, k, v, mask, 0.0),
                               attend(kind, q, all_k, all_v, mask, 0.0), 1e-5, 1e-6));
      EXPECT_TRUE(at::allclose(attend_to_past(kind, q, k, v, mask, 0.0),
                               attend_to_past(kind, q, all_k, all_v, mask, 0.0), 1e-5, 1e-6));
    }
  }
}

TEST(Attention, EagerServesHalfPrecisionWithAMask) {
  const at::Tensor x = random_heads();
  for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
    const at::Tensor y = x.to(dtype);
    const at::Tensor result = attend(Attention::eager, y, y, y, key_mask(three_padded()), 0.0);
    EXPECT_TRUE(at::allclose(result.to(at::kFloat),
                             attend(Attention::eager, x, x, x, key_mask(three_padded()), 0.0), 0.05,
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
      refusal(Attention::flash, key_mask(three_padded()), 0.1),
      "attention 'flash': PyTorch has no such kernel for Float on cpu with a padding mask with "
      "dropout of the attention weights (heads of width 8)");
  EXPECT_EQ(refusal(Attention::math, {}, 0.1), "served");
  EXPECT_EQ(refusal(Attention::eager, {}, 0.1), "served");
}

TEST(Attention, OtherFaultsStayWhatTheyAre) {
  EXPECT_THROW(
      attend(Attention::math, random_heads(), at::randn({2, 3, 5, 7}), random_heads(), {}, 0.0),
      c10::Error);
}

TEST(Attention, LeavesPyTorchsChoiceAsItWas) {
  at::Context& context = at::globalContext();
  context.setSDPUseMemEfficient(false);
  const at::Tensor x = random_heads();
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

constexpr std::int64_t kScores = 2 * 3 * 40 * 40;  // B H T T, with B = 2, H = 3, T = 40

struct Attended {
  std::int64_t kept_bytes = 0;        // by autograd, each storage once
  int float32_scores = 0;             // storages among them of B H T T numbers in float32
  std::vector<at::Tensor> gradients;  // of q, k, v
  at::Tensor result;
};

using Attend =
    std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)>;

/// Forward and backward over q, k and v of `dtype`; one seed for all.
Attended attended(const Attend& attend, at::ScalarType dtype) {
  at::manual_seed(7);
  std::vector<at::Tensor> inputs;
  for (int i = 0; i < 3; ++i) {
    inputs.push_back(at::randn({2, 3, 40, 8}).to(dtype).requires_grad_());
  }
  std::map<const void*, std::int64_t> kept;
  Attended seen;
  {
    const SavedTensorObserver observer([&kept](const at::Tensor& tensor) {
      kept[tensor.storage().data()] = static_cast<std::int64_t>(tensor.storage().nbytes());
    });
    seen.result = attend(inputs[0], inputs[1], inputs[2]);
  }
  for (const auto& [storage, bytes] : kept) {
    seen.kept_bytes += bytes;
    if (bytes == 4 * kScores) ++seen.float32_scores;
  }
  seen.result.sum().backward();
  for (const at::Tensor& input : inputs) seen.gradients.push_back(input.grad());
  return seen;
}

/// The same of attention with dropout.
Attended attended(Attention kind, at::ScalarType dtype, const at::Tensor& mask = {}) {
  const auto with_dropout = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    return attend(kind, q, k, v, mask, 0.1);
  };
  return attended(with_dropout, dtype);
}

at::Tensor half_padded() {
  at::Tensor mask = at::ones({2, 40}, at::kLong);
  mask.select(0, 1).narrow(0, 20, 20).zero_();
  return key_mask(mask);
}

void expect_equal(const Attended& one, const Attended& other) {
  EXPECT_TRUE(one.result.equal(other.result));
  for (std::size_t i = 0; i < one.gradients.size(); ++i) {
    EXPECT_GT(one.gradients[i].abs().max().item<double>(), 0.0);
    EXPECT_TRUE(one.gradients[i].equal(other.gradients[i])) << i;
  }
}

// The probabilities are kept in 4 bytes each, in place of 2.
TEST(Attention, EagerKeepsASoftmaxInFloat32WhereAskedTo) {
  const auto of_past = [](SoftmaxIn softmax_in, at::ScalarType dtype) {
    return attended(
        [softmax_in](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
          return attend_to_past(Attention::eager, q, k, v, {}, 0.1, softmax_in);
        },
        dtype);
  };
  const Attended narrow = of_past(SoftmaxIn::scores, at::kBFloat16);
  const Attended wide = of_past(SoftmaxIn::float32, at::kBFloat16);
  EXPECT_EQ(narrow.float32_scores, 0);
  EXPECT_EQ(wide.float32_scores, 1);
  EXPECT_EQ(wide.kept_bytes, narrow.kept_bytes + 2 * kScores);
  EXPECT_EQ(wide.result.scalar_type(), at::kBFloat16);
  expect_equal(of_past(SoftmaxIn::float32, at::kFloat), of_past(SoftmaxIn::scores, at::kFloat));
}

class AutocastOnTheCpu {
 public:
  AutocastOnTheCpu() { at::autocast::set_autocast_enabled(at::kCPU, true); }
  ~AutocastOnTheCpu() {
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
  }
  AutocastOnTheCpu(const AutocastOnTheCpu&) = delete;
  AutocastOnTheCpu& operator=(const AutocastOnTheCpu&) = delete;
};

TEST(EagerOfTorch110, ComputesWhatEagerComputesToTheLastBit) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    for (const at::Tensor& mask : {at::Tensor(), half_padded()}) {
      expect_equal(attended(Attention::eager_torch_1_10, dtype, mask),
                   attended(Attention::eager, dtype, mask));
    }
  }
}

TEST(EagerOfTorch110, KeepsTheScoresAsWell) {
  for (const at::Tensor& mask : {at::Tensor(), half_padded()}) {
    EXPECT_EQ(attended(Attention::eager_torch_1_10, at::kFloat, mask).kept_bytes,
              attended(Attention::eager, at::kFloat, mask).kept_bytes + 4 * kScores);
    EXPECT_EQ(attended(Attention::eager_torch_1_10, at::kBFloat16, mask).kept_bytes,
              attended(Attention::eager, at::kBFloat16, mask).kept_bytes + 2 * kScores);
  }
}

// The products are bfloat16 there. The mask that is added makes the scores float32 (4 bytes each
// beyond today's), and so the probabilities and the CPU's dropout noise (2 bytes each).
TEST(EagerOfTorch110, KeepsFloat32ScoresUnderAutocast) {
  const AutocastOnTheCpu autocast;
  const Attended today = attended(Attention::eager, at::kFloat);
  const Attended then = attended(Attention::eager_torch_1_10, at::kFloat);
  EXPECT_EQ(today.float32_scores, 0);
  EXPECT_EQ(then.float32_scores, 3);
  EXPECT_EQ(then.kept_bytes, today.kept_bytes + (4 + 2 + 2) * kScores);
  EXPECT_EQ(then.result.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::allclose(then.result.to(at::kFloat), today.result.to(at::kFloat), 0.02, 0.02));
}

}  // namespace
}  // namespace headroom
