// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/recurrent_network.h"

#include <gtest/gtest.h>

namespace headroom::dry_run {
namespace {

using Cell = RecurrentNetwork::Cell;

/// What cuDNN 9.19 said on an H100.
struct NetworkAnswer {
  struct {
    Cell cell;
    std::int64_t number_bytes;
    std::int64_t directions;
    std::int64_t layers;
    std::int64_t input;
    std::int64_t hidden;
    std::int64_t output;
  } network;
  Sequences sequences;
  struct {
    std::int64_t working_in_training;
    std::int64_t working_in_inference;
    std::int64_t kept;
    std::int64_t weights;
  } bytes;
};

TEST(RecurrentNetworkTest, TakesWhatCudnnSaid) {
  const NetworkAnswer answers[] = {
      {{Cell::lstm, 4, 1, 5, 40, 320, 320},
       {16, 12256, 4096, true},
       {78'479'616, 78'479'616, 454'942'976, 15'001'600}},
      {{Cell::lstm, 4, 1, 2, 33, 77, 77},
       {100, 3000, 3000, false},
       {22'735'520, 22'735'520, 10'164'256, 330'176}},
      {{Cell::lstm, 4, 1, 1, 300, 128, 128},
       {16, 2048, 2048, false},
       {19'874'176, 17'047'936, 5'243'136, 880'640}},
      {{Cell::lstm, 2, 2, 3, 64, 64, 64},
       {64, 3200, 3200, false},
       {57'590'528, 57'590'528, 13'926'656, 530'432}},
      {{Cell::lstm, 2, 1, 2, 1500, 1500, 750},
       {128, 24640, 24640, true},
       {440'485'472, 440'485'472, 1'034'880'256, 49'548'000}},
      {{Cell::lstm, 8, 2, 1, 300, 128, 64},
       {16, 2048, 2048, false},
       {62'325'120, 56'623'488, 27'263'232, 3'129'344}},
      {{Cell::gru, 4, 1, 2, 96, 96, 96},
       {64, 4096, 4096, false},
       {25'723'648, 25'330'432, 20'447'488, 446'976}},
      {{Cell::gru, 4, 2, 4, 128, 128, 128},
       {256, 5120, 5120, false},
       {115'476'736, 112'855'296, 141'558'016, 4'349'952}},
      {{Cell::gru, 4, 1, 1, 300, 128, 128},
       {16, 1568, 1568, true},
       {11'738'880, 11'479'296, 4'817'152, 660'480}},
      {{Cell::plain, 4, 1, 4, 128, 128, 128},
       {256, 3972, 3972, true},
       {38'670'592, 36'636'928, 14'235'904, 528'384}},
      {{Cell::plain, 2, 2, 1, 300, 128, 128},
       {16, 2048, 2048, false},
       {27'572'608, 22'460'800, 1'048'832, 220'160}},
      {{Cell::plain, 4, 1, 1, 64, 64, 64}, {1, 1, 1, false}, {8'424'480, 8'423'200, 512, 33'280}},
  };
  for (const auto& [of, sequences, bytes] : answers) {
    SCOPED_TRACE(bytes.weights);
    const RecurrentNetwork network{.cell = of.cell,
                                   .number_bytes = of.number_bytes,
                                   .directions = of.directions,
                                   .layers = of.layers,
                                   .input = of.input,
                                   .hidden = of.hidden,
                                   .output = of.output};
    EXPECT_EQ(working_bytes(network, sequences, /*is_training=*/true), bytes.working_in_training);
    EXPECT_EQ(working_bytes(network, sequences, /*is_training=*/false), bytes.working_in_inference);
    EXPECT_EQ(kept_bytes(network, sequences.rows), bytes.kept);
    EXPECT_EQ(weights(network) * network.number_bytes, bytes.weights);
  }
}

/// A network with as many outputs as hidden numbers.
RecurrentNetwork network_of(Cell cell, std::int64_t directions, std::int64_t layers,
                            std::int64_t input, std::int64_t hidden) {
  return {.cell = cell,
          .directions = directions,
          .layers = layers,
          .input = input,
          .hidden = hidden,
          .output = hidden};
}

/// What PyTorch 2.11 took of an H100 for time steps of so many samples.
TEST(RecurrentNetworkTest, TakesWhatCudnnSaidOfTheAlgorithmOfFewHiddenNumbers) {
  const struct {
    RecurrentNetwork network;
    std::int64_t steps;
    std::int64_t samples;
    std::int64_t in_training;
    std::int64_t in_inference;
  } answers[] = {
      {network_of(Cell::lstm, 1, 4, 128, 128), 20, 256, 97'519'872, 97'519'872},
      {network_of(Cell::gru, 1, 4, 128, 128), 20, 256, 93'325'568, 81'791'232},
      {network_of(Cell::gru, 2, 1, 300, 128), 128, 16, 53'924'224, 45'797'760},
      {network_of(Cell::plain, 2, 3, 80, 256), 100, 32, 126'403'072, 95'494'656},
      {network_of(Cell::plain, 1, 1, 8, 16), 10, 4, 8'427'808, 8'408'096},
  };
  for (const auto& answer : answers) {
    SCOPED_TRACE(answer.in_training);
    RecurrentNetwork network = answer.network;
    network.in_registers = true;
    const std::int64_t rows = answer.steps * answer.samples;
    const Sequences sequences{.samples = answer.samples, .rows = rows, .rows_at_once = rows};
    EXPECT_EQ(working_bytes(network, sequences, /*is_training=*/true), answer.in_training);
    EXPECT_EQ(working_bytes(network, sequences, /*is_training=*/false), answer.in_inference);
  }
}

TEST(RecurrentNetworkTest, DropoutWorksInWhatGoesBetweenLayersToo) {
  RecurrentNetwork network = network_of(Cell::lstm, 1, 2, 512, 1024);
  const Sequences sequences{.samples = 64, .rows = 64 * 64, .rows_at_once = 64 * 64};
  EXPECT_EQ(working_bytes(network, sequences, /*is_training=*/true), 173'015'808);
  network.has_dropout = true;
  EXPECT_EQ(working_bytes(network, sequences, /*is_training=*/true), 189'793'024);
}

/// The LSTM of PyTorch's issue 2895, and a bit for each of its three hidden layers' outputs.
TEST(RecurrentNetworkTest, DropoutKeepsABitOfWhatGoesBetweenLayers) {
  RecurrentNetwork network = network_of(Cell::lstm, 1, 4, 320, 320);
  constexpr std::int64_t kRows = 25'000;
  EXPECT_EQ(kept_bytes(network, kRows), 736'000'000 + 256);
  network.has_dropout = true;
  EXPECT_EQ(kept_bytes(network, kRows), 736'000'000 + 256 + kRows * 3 * 320 / 8);

  RecurrentNetwork both_ways = network_of(Cell::gru, 2, 3, 80, 256);
  const std::int64_t kept = kept_bytes(both_ways, kRows);
  both_ways.has_dropout = true;
  EXPECT_EQ(kept_bytes(both_ways, kRows), kept + 2 * kRows * 2 * 2 * 256 / 8);
}

}  // namespace
}  // namespace headroom::dry_run
