// SPDX-License-Identifier: Apache-2.0
// On a GPU: a recorded step computes what the same step computes kernel by kernel. tests/program
// plans its memory.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/techniques/contract.h"

namespace headroom {
namespace {

constexpr int kRecordedSteps = 6;  // the second is recorded

class CudaGraphsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device";
  }

  static Trained train_on_gpu(const Json& values) {
    return train(values, kRecordedSteps, nullptr, at::Device("cuda:0"));
  }

  /// The case with `others`, with and without graphs. Trained by SGD: Adam makes whole steps of
  /// gradients that are nothing but rounding, as those of a key's bias are, and cuBLAS may round
  /// differently in a graph.
  static void expect_same(Json values, const std::vector<Json>& others, int launches,
                          double within = 1e-5) {
    values["train"]["optimizer"] = {{"name", "sgd"}, {"lr", 0.01}, {"momentum", 0.9}};
    for (const Json& other : others) values["techniques"].push_back(other);
    SCOPED_TRACE(values.dump());
    const Trained without = train_on_gpu(values);
    values["techniques"].push_back(technique("cuda_graphs"));
    const Trained with = train_on_gpu(values);
    EXPECT_EQ(with.inactive, "");
    EXPECT_EQ(with.evidence.graph_launches, launches);
    EXPECT_LE(loss_distance(with, without), within);
    EXPECT_LE(weight_distance(with, without), within);
    EXPECT_LE(buffer_distance(with, without), within);
  }
};

TEST_F(CudaGraphsTest, ComputesTheSameOnEachKindOfModel) {
  for (const Json& model :
       {small_vit(), small_bert(), small_gpt2(), small_llama(), mini_resnet()}) {
    expect_same(model, {}, kRecordedSteps - 1);
  }
}

TEST_F(CudaGraphsTest, AddsGradientsOfMicroBatchesUp) {
  for (const char* zero_grad : {"to_none", "to_zero"}) {
    for (const char* when : {"after_step", "before_backward"}) {
      Json values = small_vit();
      values["train"]["zero_grad"] = zero_grad;
      values["train"]["zero_grad_when"] = when;
      expect_same(values, {}, kRecordedSteps - 1);
      // Of the second step the last alone is launched.
      expect_same(values, {technique("gradient_accumulation", {{"micro_batches", 4}})},
                  4 * (kRecordedSteps - 2) + 1);
    }
  }
}

TEST_F(CudaGraphsTest, KeepsThePromiseOfOtherTechniques) {
  for (const char* other : {"activation_checkpointing", "bfloat16", "recomputed_nonlinearity",
                            "lora", "optimizer_offload"}) {
    expect_same(small_vit(), {contracted(other)}, kRecordedSteps - 1);
  }
  // What differs in its last digit may differ by one of 256 levels when it is read back.
  expect_same(small_vit(), {contracted("compressed_activations")}, kRecordedSteps - 1, 1e-3);
  for (const char* dtype : {"float16", "bfloat16"}) {
    expect_same(small_vit(), {technique("mixed_precision", {{"dtype", dtype}})},
                kRecordedSteps - 1);
  }
  expect_same(small_gpt2(), {contracted("chunked_loss")}, kRecordedSteps - 1);
}

// A graph draws from the generator that it was recorded with, behind what was drawn before.
TEST_F(CudaGraphsTest, DrawsNewDropoutInEachLaunch) {
  Json values = small_vit();
  values["model"]["dropout"] = 0.1;
  expect_same(values, {}, kRecordedSteps - 1);
}

}  // namespace
}  // namespace headroom
