// SPDX-License-Identifier: Apache-2.0
// What docs/techniques.md says of plans.
#include <gtest/gtest.h>

#include "tests/program/program.h"

namespace headroom {
namespace {

std::vector<Cells> rows_of_plan(const std::string& suite, const std::string& only) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  run_headroom({"plan", source("configs/" + suite), "--only", only, "--set", "train.steps=2",
                "--set", "train.warmup_steps=1", "--out", out});
  return read_csv_rows(out);
}

TEST(PlanOfTechniques, StreamsVitInAHundredthOfTheMemory) {
  const auto rows = rows_of_plan("vit_l_hundredth.yaml", "row_1_|row_8_|row_9_");
  ASSERT_EQ(rows.size(), 3u);
  for (const std::size_t streamed : {1, 2}) {
    EXPECT_LE(100 * rows[streamed].number("run_peak_reserved_upper_bytes"),
              rows[0].number("run_peak_reserved_lower_bytes"));
    EXPECT_LE(rows[streamed].number("host_link_bytes_per_step"), 4'000'000'000);
    EXPECT_LE(rows[streamed].number("step_time_lower_bound_ns"),
              rows[0].number("step_time_lower_bound_ns"));
  }
}

// Drawn on the device, the table of tokens is larger than any buffer of the run.
TEST(PlanOfTechniques, StreamsBertInAHundredthOfTheMemory) {
  const auto rows = rows_of_plan("bert_large_hundredth.yaml", "row_1_|row_4_");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_LE(100 * rows[1].number("run_peak_reserved_upper_bytes"),
            rows[0].number("run_peak_reserved_lower_bytes"));
}

// Kept for backward, of an image in fp32: what convolutions give, as normalisation reads it again,
// what is rectified, what is pooled and, in int64, from where; of each normalised channel two
// numbers. The peak comes before anything else is kept, or let go. What convolutions work in cuDNN
// itself says, so nothing is left to bound.
TEST(PlanOfTechniques, KeepsOfResnet50WhatNormalisationAndRectifiersRead) {
  constexpr std::int64_t kConvolved = 11'113'984;
  constexpr std::int64_t kRectified = 9'608'704;
  constexpr std::int64_t kPooled = 64 * 56 * 56;
  constexpr std::int64_t kNormalised = 26'560;
  constexpr std::int64_t kImage = 4 * (kConvolved + kRectified + kPooled) + 8 * kPooled;
  const auto rows = rows_of_plan("resnet_50.yaml", "^batch_128(_micro_batches)?$");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].number("peak_activations_bytes"), 128 * kImage + 8 * kNormalised);
  EXPECT_EQ(rows[1].number("peak_activations_bytes"), 32 * kImage + 8 * kNormalised);
  // 25,557,032 parameters, and running statistics with a count of each of 53 normalisations.
  EXPECT_EQ(rows[0].number("peak_weights_bytes"), 4 * 25'557'032 + 8 * kNormalised + 8 * 53);
  EXPECT_EQ(rows[0].number("run_peak_reserved_lower_bytes"),
            rows[0].number("run_peak_reserved_upper_bytes"));
}

TEST(PlanOfTechniques, FitsWithExpandableSegmentsWhatIsFreeInPieces) {
  const auto rows = rows_of_plan("allocator.yaml", "in_7_5_gb");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text("status"), "out_of_memory");
  EXPECT_NE(rows[0].text("reason").find(" pieces, the largest of 941.29 MiB."), std::string::npos)
      << rows[0].text("reason");
  EXPECT_EQ(rows[1].text("status"), "ok") << rows[1].text("reason");
  EXPECT_EQ(rows[1].text("allocator"), "expandable_segments:True");
}

/// What AdamW's fused update holds between steps: weights, gradients and two moments.
constexpr std::int64_t kBertBaseStates = 16 * 109'483'778;

// Recording changes nothing of what forward and backward allocate, but for what the allocator
// rounds up: an H100 took 786,432 bytes less. Behind it the allocator counts what tensors hold, and
// the graph's pool stays reserved, all of it.
TEST(CudaGraphsMemory, StaysReservedWhereTensorsAreGone) {
  const auto rows = rows_of_plan("cuda_graphs.yaml", "^(accumulation_)?(vanilla|cuda_graphs)$");
  ASSERT_EQ(rows.size(), 3u);
  const Cells& eager = rows[0];
  const Cells& recorded = rows[1];
  for (const Cells& row : rows) EXPECT_EQ(row.text("status"), "ok") << row.text("reason");
  for (const char* same : {"peak_weights_bytes", "peak_gradients_bytes", "flops_per_step",
                           "peak_optimizer_state_bytes", "peak_batch_bytes"}) {
    EXPECT_EQ(recorded.number(same), eager.number(same)) << same;
  }
  const std::int64_t peak = eager.number("run_peak_allocated_bytes");
  EXPECT_NEAR(recorded.number("run_peak_allocated_bytes"), peak, 1 << 20);
  EXPECT_GT(peak, kBertBaseStates + 800'000'000);
  EXPECT_GT(recorded.number("steady_peak_allocated_bytes"), kBertBaseStates);
  EXPECT_LT(recorded.number("steady_peak_allocated_bytes"), kBertBaseStates + 32'000'000);
  EXPECT_GT(recorded.number("steady_peak_reserved_bytes"), peak);
}

/// A case for each model, and one for each technique that graphs go with.
constexpr const char* kRecorded =
    "suite: recorded\n"
    "defaults:\n"
    "  model: {name: bert_mini}\n"
    "  data: {name: random_tokens, sequence_length: 64}\n"
    "  train: {batch_size: 4, optimizer: {name: adam, lr: 1.0e-4}}\n"
    "cases:\n"
    "  - {name: bert, model: {dropout: 0.1}, techniques: [cuda_graphs]}\n"
    "  - {name: gpt2, model: {name: gpt2_mini}, techniques: [chunked_loss, cuda_graphs]}\n"
    "  - {name: llama, model: {name: llama_mini}, techniques: [cuda_graphs]}\n"
    "  - {name: resnet, model: {name: resnet_mini}, data: {name: random_images, image_size: 64},\n"
    "     techniques: [cuda_graphs]}\n"
    "  - {name: vit, model: {name: vit_mini}, data: {name: digits, image_size: 64},\n"
    "     techniques: [cuda_graphs]}\n"
    "  - {name: accumulation, techniques: [gradient_accumulation, cuda_graphs]}\n"
    "  - {name: float16, techniques: [{mixed_precision: {dtype: float16}}, cuda_graphs]}\n"
    "  - {name: float16_outside, techniques: [cuda_graphs, {mixed_precision: {dtype: float16}}]}\n"
    "  - {name: bfloat16, techniques: [bfloat16, on_device_init, cuda_graphs]}\n"
    "  - {name: sgd, techniques: [sgd, cuda_graphs]}\n"
    "  - {name: lora, techniques: [lora, cuda_graphs]}\n"
    "  - {name: checkpointing, techniques: [activation_checkpointing, cuda_graphs]}\n"
    "  - {name: compressed, techniques: [compressed_activations, cuda_graphs]}\n"
    "  - {name: recomputed, techniques: [recomputed_nonlinearity, cuda_graphs]}\n"
    "  - {name: offload, techniques: [optimizer_offload, cuda_graphs]}\n";

// What waits for the device while it is recorded fails, and what launches no graph is inactive.
TEST(PlanOfTechniques, RecordsEachModelAndEachTechniqueThatGraphsGoWith) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  const Ended ended =
      run_headroom({"plan", folder.write("suite.yaml", kRecorded), "--gpu", "a100-40gb", "--set",
                    "train.steps=2", "--set", "train.warmup_steps=1", "--out", out});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto rows = read_csv_rows(out);
  EXPECT_EQ(rows.size(), 15u);
  for (const Cells& row : rows) {
    EXPECT_EQ(row.text("status"), "ok") << row.text("case") << ": " << row.text("reason");
  }
}

}  // namespace
}  // namespace headroom
