// SPDX-License-Identifier: Apache-2.0
// What eager attention keeps for backward, today and as of PyTorch 1.10, and that both compute the
// same.
#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "models/attention.h"
#include "src/memory/saved_tensors.h"

namespace headroom {
namespace {

constexpr std::int64_t kScores = 2 * 3 * 40 * 40;  // B H T T, with B = 2, H = 3, T = 40

struct Attended {
  std::int64_t kept_bytes = 0;        // by autograd, each storage once
  int float32_scores = 0;             // storages among them of B H T T numbers in float32
  std::vector<at::Tensor> gradients;  // of q, k, v
  at::Tensor result;
};

/// Forward and backward of attention over q, k and v of `dtype`, with dropout; one seed for all.
Attended attended(Attention kind, at::ScalarType dtype, const at::Tensor& mask = {}) {
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
    seen.result = attend(kind, inputs[0], inputs[1], inputs[2], mask, 0.1);
  }
  for (const auto& [storage, bytes] : kept) {
    seen.kept_bytes += bytes;
    if (bytes == 4 * kScores) ++seen.float32_scores;
  }
  seen.result.sum().backward();
  for (const at::Tensor& input : inputs) seen.gradients.push_back(input.grad());
  return seen;
}

at::Tensor some_padding() {
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
    for (const at::Tensor& mask : {at::Tensor(), some_padding()}) {
      expect_equal(attended(Attention::eager_torch_1_10, dtype, mask),
                   attended(Attention::eager, dtype, mask));
    }
  }
}

TEST(EagerOfTorch110, KeepsTheScoresAsWell) {
  for (const at::Tensor& mask : {at::Tensor(), some_padding()}) {
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
