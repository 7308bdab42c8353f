// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// How large a recurrent network's weights are, and what cuDNN asks for beside them. The weights a
// program sees; the rest no document has, so it is inferred from what 9.19 said on an H100 of 2,640
// networks in 33 shapes: of 92 % the work area is right to the byte, of the rest within 1 %, but
// for plain networks of several layers, 3 %. `in_registers` is inferred from PyTorch's tensors in 7
// shapes, all of them right.
namespace headroom::dry_run {

struct RecurrentNetwork {
  enum class Cell { plain, gru, lstm };

  Cell cell = Cell::lstm;
  std::int64_t number_bytes = 4;
  bool has_bias = true;
  bool has_dropout = false;
  bool in_registers = false;  // cuDNN's algorithm for few hidden numbers
  std::int64_t directions = 1;
  std::int64_t layers = 1;
  std::int64_t input = 0;
  std::int64_t hidden = 0;
  std::int64_t output = 0;  // of a direction: the projection's, or `hidden`
};

/// What it is given.
struct Sequences {
  std::int64_t samples = 0;
  std::int64_t rows = 0;          // time steps of all samples
  std::int64_t rows_at_once = 0;  // those of each sample's first kStepsAtOnce
  bool packed = false;            // without the rows of padding
  std::int64_t steps = 0;         // time steps of the longest
};

/// A network of one direction multiplies its inputs for as many time steps at a time.
inline constexpr std::int64_t kStepsAtOnce = 256;

/// The products with the layer's input, and as many with its last output.
std::int64_t gates(const RecurrentNetwork& network);

/// cuDNN counts a direction of a layer as a layer.
std::int64_t pseudo_layers(const RecurrentNetwork& network);
std::int64_t input_of(const RecurrentNetwork& network, std::int64_t pseudo_layer);

/// The numbers in the matrices of the layers before this one.
std::int64_t matrices_before(const RecurrentNetwork& network, std::int64_t pseudo_layer);
std::int64_t matrices(const RecurrentNetwork& network);  // of all
std::int64_t biases_of_layer(const RecurrentNetwork& network);
std::int64_t weights(const RecurrentNetwork& network);

/// Kept from forward to backward.
std::int64_t kept_bytes(const RecurrentNetwork& network, std::int64_t rows);

/// What a pass works in: the same in inference but for what the gradients of the weights take.
std::int64_t working_bytes(const RecurrentNetwork& network, const Sequences& sequences,
                           bool is_training);

}  // namespace headroom::dry_run
