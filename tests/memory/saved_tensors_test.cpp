// SPDX-License-Identifier: Apache-2.0
#include "src/memory/saved_tensors.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <vector>

namespace headroom {
namespace {

/// Counts, and keeps each tensor as it is.
class Counting final : public SavedTensorHooks {
 public:
  std::unique_ptr<torch::autograd::SavedVariableHooks> make() override {
    return std::make_unique<Hooks>(*this);
  }
  int packed = 0;
  int unpacked = 0;

 private:
  class Hooks final : public torch::autograd::SavedVariableHooks {
   public:
    explicit Hooks(Counting& counting) : counting_(counting) {}
    void call_pack_hook(const at::Tensor& tensor) override {
      ++counting_.packed;
      kept_ = tensor.detach().clone();
    }
    at::Tensor call_unpack_hook() override {
      ++counting_.unpacked;
      return kept_;
    }

   private:
    Counting& counting_;
    at::Tensor kept_;
  };
};

at::Tensor leaf() { return at::arange(1.0, 5.0).requires_grad_(); }

/// Saves x and the result of sin for the product, and x for sin: three tensors.
at::Tensor function(const at::Tensor& x) { return x.mul(x.sin()).sum(); }

at::Tensor gradient_of_function() {
  const at::Tensor x = leaf();
  function(x).backward();
  return x.grad();
}

TEST(SavedTensorsTest, TheObserverSeesWhatAutogradKeeps) {
  const at::Tensor x = leaf();
  std::vector<at::Tensor> seen;
  {
    const SavedTensorObserver observer([&seen](const at::Tensor& t) { seen.push_back(t); });
    const at::Tensor y = x.exp();         // keeps its result
    const at::Tensor z = y.add(1.0);      // keeps nothing
    const at::Tensor product = z.mul(y);  // keeps both factors
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[0].data_ptr(), y.data_ptr());
    const std::vector<void*> factors = {seen[1].data_ptr(), seen[2].data_ptr()};
    EXPECT_NE(std::find(factors.begin(), factors.end(), y.data_ptr()), factors.end());
    EXPECT_NE(std::find(factors.begin(), factors.end(), z.data_ptr()), factors.end());
    seen.clear();
    product.sum().backward();
    EXPECT_TRUE(seen.empty());  // backward keeps nothing
  }
  const at::Tensor behind = x.exp();
  EXPECT_TRUE(seen.empty());
}

TEST(SavedTensorsTest, ObservingChangesNoGradient) {
  const at::Tensor plain = gradient_of_function();
  int seen = 0;
  const SavedTensorObserver observer([&seen](const at::Tensor&) { ++seen; });
  EXPECT_TRUE(at::equal(gradient_of_function(), plain));
  EXPECT_EQ(seen, 3);
}

TEST(SavedTensorsTest, AnObservedGraphEndsWithItsResult) {
  const at::Tensor x = leaf();
  c10::weak_intrusive_ptr<at::TensorImpl> kept(x.getIntrusivePtr());
  const SavedTensorObserver observer([](const at::Tensor&) {});
  {
    const at::Tensor y = x.exp();  // saved as an output of its own node
    kept = c10::weak_intrusive_ptr<at::TensorImpl>(y.getIntrusivePtr());
    EXPECT_FALSE(kept.expired());
  }
  EXPECT_TRUE(kept.expired());
}

TEST(SavedTensorsTest, HooksHandBackWhatBackwardNeeds) {
  const at::Tensor plain = gradient_of_function();
  Counting hooks;
  const at::Tensor x = leaf();
  at::Tensor y;
  {
    const SavedTensorScope scope(hooks);
    y = function(x);
  }
  EXPECT_EQ(hooks.packed, 3);
  EXPECT_EQ(hooks.unpacked, 0);
  y.backward();  // outside of the scope
  EXPECT_EQ(hooks.packed, 3);
  EXPECT_EQ(hooks.unpacked, 3);
  EXPECT_TRUE(at::equal(x.grad(), plain));
}

TEST(SavedTensorsTest, TheInnermostScopeWins) {
  Counting outer;
  Counting inner;
  const at::Tensor x = leaf();
  const SavedTensorScope outer_scope(outer);
  {
    const SavedTensorScope inner_scope(inner);
    x.exp();
  }
  EXPECT_EQ(inner.packed, 1);
  EXPECT_EQ(outer.packed, 0);
  x.exp();
  EXPECT_EQ(outer.packed, 1);
}

}  // namespace
}  // namespace headroom
