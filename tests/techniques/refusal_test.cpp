// SPDX-License-Identifier: Apache-2.0
// What can't be combined is refused before anything is built; what does nothing says so.
#include <gtest/gtest.h>

#include "src/core/error.h"
#include "src/worker/case.h"
#include "techniques/technique.h"
#include "tests/core/messages.h"
#include "tests/techniques/contract.h"

namespace headroom {
namespace {

std::string refusal(const Json& values) {
  return message_of<Unsupported>([&] { read_case(values, at::kCPU); });
}

TEST(RefusalTest, ExcludedPairsAreNamedInBothOrders) {
  int pairs = 0;
  for (const TechniqueEntry& entry : technique_table()) {
    for (const std::string_view other : excluded_by(entry)) {
      const Json one = contracted(entry.name);
      const Json two = contracted(other);
      for (const Json& values : {with(small_vit(), {one, two}), with(small_vit(), {two, one})}) {
        const std::string message = refusal(values);
        EXPECT_TRUE(contains(message, std::string(entry.name))) << message;
        EXPECT_TRUE(contains(message, std::string(other))) << message;
      }
      ++pairs;
    }
  }
  EXPECT_EQ(pairs, 54);  // 2 on one device; one way to join ranks, and what does not go with it
}

TEST(RefusalTest, AnOptimizerThatLooksAtWholeParametersGetsNoParts) {
  for (const char* name : {"zero_1", "zero_2", "fsdp", "cpu_offload", "tensor_parallel"}) {
    for (const std::string optimizer :
         {"adafactor", "adalomo", "adam_8bit", "adam_4bit", "apollo"}) {
      Json values = with(small_vit(), {contracted(name)});
      values["train"]["optimizer"] = {{"name", optimizer}, {"implementation", "per_tensor"}};
      EXPECT_TRUE(contains(refusal(values), optimizer + " looks at whole parameters")) << name;
    }
  }
}

TEST(RefusalTest, TheAllocatorOfTheCpuHasNoSettings) {
  Json values = small_vit();
  values["allocator"] = {{"expandable_segments", true}, {"max_split_size_mb", 128}};
  EXPECT_TRUE(contains(refusal(values), "expandable_segments:True,max_split_size_mb:128"));
}

TEST(RefusalTest, AGraphIsRecordedWhereItCanBe) {
  const auto on_cuda = [](const Json& values) {
    return message_of<Unsupported>([&] { read_case(values, at::Device("cuda:0")); });
  };
  Json values = with(small_vit(), {technique("cuda_graphs")});
  EXPECT_EQ(refusal(values), "cuda_graphs needs a CUDA device");
  EXPECT_NO_THROW(read_case(values, at::Device("cuda:0")));
  values["techniques"].push_back(contracted("gradient_accumulation"));
  EXPECT_EQ(on_cuda(values),
            "cuda_graphs: micro-batches of one size are needed; 8 samples make none in 3 "
            "micro-batches");
  EXPECT_TRUE(contains(on_cuda(with(small_bigbird(), {technique("cuda_graphs")})),
                       "bigbird_mini draws numbers on the host in each forward"));
  for (const char* again : {"activation_checkpointing", "recomputed_nonlinearity"}) {
    values["techniques"] = {technique(again), technique("cuda_graphs")};
    values["model"]["dropout"] = 0.0;
    EXPECT_NO_THROW(read_case(values, at::Device("cuda:0"))) << again;
    values["model"]["dropout"] = 0.1;
    EXPECT_TRUE(contains(on_cuda(values), "set model.dropout to 0")) << again;
  }
}

TEST(RefusalTest, TheLossIsCutWhereThereAreTokensToCut) {
  EXPECT_TRUE(contains(refusal(with(small_bert(), {technique("chunked_loss")})),
                       "bert_mini has one row of logits a sample"));
  EXPECT_TRUE(contains(refusal(with(small_gpt2(), {technique("chunked_loss")})),
                       "4 tokens are not enough for 8 chunks"));
}

TEST(RefusalTest, LayersAreTunedAndCutWhereBlocksNameThem) {
  EXPECT_EQ(refusal(with(small_bigbird(), {technique("lora")})),
            "lora: the blocks of bigbird_mini have no layers to tune");
  EXPECT_EQ(refusal(with(mini_resnet(), {technique("tensor_parallel")})),
            "tensor_parallel: the blocks of resnet_mini have no layers that ranks can cut");
}

TEST(RefusalTest, LoraMergesWholeWeightsAlone) {
  Json values = with(small_bert(), {technique("lora"), technique("fsdp")});
  EXPECT_FALSE(refused(values));
  values["train"]["save_weights"] = "somewhere";
  EXPECT_TRUE(contains(refusal(values), "lora saves W + B A"));
  values["techniques"] = {technique("lora"), technique("ddp")};
  EXPECT_FALSE(refused(values));
}

TEST(RefusalTest, AnImplementationThatIsMissingIsNamedWithThoseThatAreThere) {
  Json values = small_vit();
  values["train"]["optimizer"] = {{"name", "adafactor"}};
  EXPECT_TRUE(contains(refusal(values), "no implementation 'multi_tensor'; it has per_tensor"));
}

TEST(RefusalTest, UpdatesInBackwardCanNotWaitForTheNormOfAllGradients) {
  Json values = with(small_vit(), {technique("optimizer_in_backward")});
  values["train"]["max_gradient_norm"] = 1.0;
  EXPECT_TRUE(contains(refusal(values), "optimizer_in_backward"));
}

TEST(RefusalTest, UpdatesInBackwardCanNotWaitForTheLossScaler) {
  const Json in_backward = technique("optimizer_in_backward");
  const Json half = technique("mixed_precision", {{"dtype", "float16"}});
  for (const Json& values :
       {with(small_vit(), {in_backward, half}), with(small_vit(), {half, in_backward})}) {
    EXPECT_TRUE(contains(refusal(values), "mixed_precision"));
    EXPECT_TRUE(contains(refusal(values), "optimizer_in_backward"));
  }
}

TEST(RefusalTest, TheLossScalerCanNotWorkOnNarrowGradients) {
  const auto refused_with = [](const char* sharding, const char* products, const char* weights) {
    return refused(with(small_vit(), {technique("mixed_precision", {{"dtype", products}}),
                                      technique(sharding, {{"parameter_dtype", weights}})}));
  };
  for (const char* name : {"zero_1", "zero_2", "layer_streaming"}) {
    EXPECT_TRUE(refused_with(name, "float16", "float16"));
    EXPECT_TRUE(refused_with(name, "float16", "bfloat16"));
    EXPECT_FALSE(refused_with(name, "float16", "same"));
    EXPECT_FALSE(refused_with(name, "bfloat16", "bfloat16"));
  }
  EXPECT_FALSE(refused_with("fsdp", "float16", "float16"));  // which widens them first
}

TEST(RefusalTest, ABatchHasToFillItsMicroBatches) {
  const auto micro_batches = [](int count) {
    return with(small_vit(), {technique("gradient_accumulation", {{"micro_batches", count}})});
  };
  EXPECT_TRUE(contains(refusal(micro_batches(9)), "a batch of 8 samples does not fill 9"));
  EXPECT_TRUE(refused(micro_batches(6)));  // 2 2 2 2, and two empty ones
  EXPECT_TRUE(refused(micro_batches(5)));
  EXPECT_FALSE(refused(micro_batches(8)));
  EXPECT_FALSE(refused(micro_batches(3)));
}

std::string why_inactive(const Json& values) { return train(values, 1).inactive; }

TEST(InactiveTest, FullPrecisionOnTheCpuIsMadeInPlaceAnyway) {
  Json values = with(small_vit(), {technique("on_device_init")});
  EXPECT_TRUE(contains(why_inactive(values), "in any case"));
  values["train"]["precision"] = "float64";
  EXPECT_TRUE(contains(why_inactive(values), "in any case"));
}

TEST(InactiveTest, SgdInPlaceOfSgd) {
  Json values = with(small_vit(), {technique("sgd")});
  values["train"]["optimizer"] = {{"name", "sgd"}};
  EXPECT_TRUE(contains(why_inactive(values), "sgd already"));
}

TEST(InactiveTest, CheckpointingAroundOffload) {
  const Json offload = technique("activation_offload");
  const Json checkpointing = technique("activation_checkpointing");
  EXPECT_TRUE(contains(why_inactive(with(small_vit(), {offload, checkpointing})),
                       "list activation_checkpointing before activation_offload"));
  EXPECT_EQ(why_inactive(with(small_vit(), {checkpointing, offload})), "");
}

TEST(InactiveTest, NoStateToOffload) {
  const Json values = with(small_vit(), {technique("sgd"), technique("optimizer_offload")});
  EXPECT_TRUE(contains(why_inactive(values), "no state"));
}

// The evidence of a run in which nothing happened convicts every technique that has to have acted.
TEST(InactiveTest, NarrowWeightsWithoutANarrowProduct) {
  const WorkerCase read = read_case(
      with(small_vit(), {technique("zero_1", {{"parameter_dtype", "bfloat16"}})}), at::kCPU);
  Evidence evidence{.gathers = 1, .reductions = 1};
  EXPECT_EQ(read.techniques[0]->why_inactive(evidence, read.recipe), "no product ran in 16 bits");
  evidence.low_precision_flops = 1;
  EXPECT_EQ(read.techniques[0]->why_inactive(evidence, read.recipe), "");
}

TEST(InactiveTest, NoTechniqueIsActiveInARunWithoutASign) {
  const WorkerCase plain = read_case(small_vit(), at::kCPU);
  Evidence nothing{.steps = 2,
                   .backward_passes = 2,
                   .staged_parameter_bytes = 400,
                   .parameter_bytes = 400,
                   .parameter_count = 100,
                   .parameter_tensors = 4,
                   .device_state_bytes = 800,
                   .flops = 1000};
  for (const TechniqueEntry& entry : technique_table()) {
    EXPECT_NE(entry.make()->why_inactive(nothing, plain.recipe), "") << entry.name;
  }
}

}  // namespace
}  // namespace headroom
