// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/recurrent_network.h"

#include <algorithm>

#include "src/dry_run/parts.h"

namespace headroom::dry_run {
namespace {

using Cell = RecurrentNetwork::Cell;

bool is_projected(const RecurrentNetwork& network) { return network.output != network.hidden; }

bool is_lstm(const RecurrentNetwork& network) { return network.cell == Cell::lstm; }

/// For each hidden number of a layer.
struct Counts {
  std::int64_t gates;
  std::int64_t states;  // of a time step of a sample, while gates are multiplied
  std::int64_t kept;    // of a time step: an LSTM its gates and its cell
};

Counts counts(const RecurrentNetwork& network) {
  switch (network.cell) {
    case Cell::lstm:
      return {.gates = 4, .states = 6, .kept = 5};
    case Cell::gru:
      return {.gates = 3, .states = 3, .kept = 6};
    case Cell::plain:
      break;
  }
  return {.gates = 1, .states = 1, .kept = 1};
}

/// The numbers in the matrices of a layer.
std::int64_t matrices_of(const RecurrentNetwork& network, std::int64_t pseudo_layer) {
  const std::int64_t projection = is_projected(network) ? network.hidden * network.output : 0;
  return gates(network) * network.hidden * (input_of(network, pseudo_layer) + network.output) +
         projection;
}

/// An LSTM has cells beside its outputs.
std::int64_t cell_states(const RecurrentNetwork& network) { return is_lstm(network) ? 2 : 0; }

/// The hidden numbers of all rows, and of all samples in each layer of a direction.
std::int64_t row_numbers(const RecurrentNetwork& network, const Sequences& sequences) {
  return sequences.rows * network.hidden;
}

std::int64_t sample_numbers(const RecurrentNetwork& network, const Sequences& sequences) {
  return network.layers * sequences.samples * network.hidden;
}

/// What dropout between the layers works in.
std::int64_t dropped_numbers(const RecurrentNetwork& network, const Sequences& sequences) {
  return network.has_dropout && network.layers > 1 ? row_numbers(network, sequences) : 0;
}

/// What a forward pass works in, and a backward one for the gradients of what it was given. Two
/// directions take all their time steps at once, and two rows and two states more each.
std::int64_t gate_numbers(const RecurrentNetwork& network, const Sequences& sequences) {
  const std::int64_t of_rows = row_numbers(network, sequences);
  const std::int64_t of_samples = sample_numbers(network, sequences);
  const std::int64_t projected = is_projected(network) ? of_rows : 0;
  if (network.directions == 2) {
    return 2 *
           ((gates(network) + 2) * of_rows + (counts(network).states + 2) * of_samples + projected);
  }
  return gates(network) * sequences.rows_at_once * network.hidden +
         counts(network).states * of_samples + projected + dropped_numbers(network, sequences);
}

std::int64_t gate_numbers_in_registers(const RecurrentNetwork& network,
                                       const Sequences& sequences) {
  const std::int64_t of_rows = row_numbers(network, sequences);
  const std::int64_t of_samples = sample_numbers(network, sequences);
  if (network.directions == 2) {
    return (6 * gates(network) + 4) * of_rows + 2 * (3 + cell_states(network)) * of_samples;
  }
  return 5 * gates(network) * of_rows + (2 + cell_states(network)) * of_samples +
         dropped_numbers(network, sequences);
}

/// Of one layer its inputs. Of several, of one direction, inputs of some time steps: 16 of most
/// networks, 12 to 48 of others.
std::int64_t input_numbers(const RecurrentNetwork& network, const Sequences& sequences) {
  constexpr std::int64_t kInputSteps = 16;
  const std::int64_t wider = std::max(network.input, network.hidden);
  if (network.layers == 1) return (network.directions == 2 ? 4 : 1) * sequences.rows * wider;
  if (network.directions == 2) return 6 * row_numbers(network, sequences);
  if (network.in_registers) return 2 * row_numbers(network, sequences);
  return std::min(kInputSteps * sequences.samples, sequences.rows) * wider;
}

/// What the gradients of the weights take: a layer's inputs and its last outputs.
std::int64_t gradient_numbers(const RecurrentNetwork& network, const Sequences& sequences) {
  const std::int64_t of_rows = row_numbers(network, sequences);
  const std::int64_t last_states = (network.directions == 2 ? 3 : 1) + cell_states(network);
  const std::int64_t outputs = is_projected(network) ? 2 * of_rows : of_rows;
  return input_numbers(network, sequences) +
         network.directions * (outputs + last_states * sample_numbers(network, sequences));
}

/// An LSTM's are less than its gate numbers; as a plain network's, until they are known.
std::int64_t gradient_numbers_in_registers(const RecurrentNetwork& network,
                                           const Sequences& sequences) {
  const std::int64_t rows =
      (network.directions == 2 ? 11 : 10) + (network.cell == Cell::gru ? 5 : 0);
  const std::int64_t last_states = network.directions == 2 ? 6 : 2;
  return input_numbers(network, sequences) + rows * row_numbers(network, sequences) +
         last_states * sample_numbers(network, sequences);
}

/// Sequences with padding are packed first: what comes in and goes out, and the first and the last
/// states. Backward has their gradients too.
std::int64_t packed_numbers(const RecurrentNetwork& network, const Sequences& sequences) {
  const std::int64_t rows = sequences.rows * (network.input + network.directions * network.output);
  const std::int64_t of_layer = 2 * network.output + cell_states(network) * network.hidden;
  return rows + pseudo_layers(network) * sequences.samples * of_layer;
}

}  // namespace

std::int64_t gates(const RecurrentNetwork& network) { return counts(network).gates; }

std::int64_t pseudo_layers(const RecurrentNetwork& network) {
  return network.layers * network.directions;
}

std::int64_t input_of(const RecurrentNetwork& network, std::int64_t pseudo_layer) {
  return pseudo_layer < network.directions ? network.input : network.output * network.directions;
}

std::int64_t matrices_before(const RecurrentNetwork& network, std::int64_t pseudo_layer) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < pseudo_layer; ++i) sum += matrices_of(network, i);
  return sum;
}

std::int64_t matrices(const RecurrentNetwork& network) {
  return matrices_before(network, pseudo_layers(network));
}

std::int64_t biases_of_layer(const RecurrentNetwork& network) {
  return 2 * gates(network) * network.hidden;
}

std::int64_t weights(const RecurrentNetwork& network) {
  const std::int64_t biases =
      network.has_bias ? pseudo_layers(network) * biases_of_layer(network) : 0;
  return matrices(network) + biases;
}

/// Beside what each layer keeps what goes from layer to layer, before it is projected too, and bits
/// for what dropout may drop: each direction drops of what both gave. What the last layer gives is
/// the caller's.
std::int64_t kept_bytes(const RecurrentNetwork& network, std::int64_t rows) {
  constexpr std::int64_t kOwnBytes = 256;
  // An LSTM alone may project: what it does, and what comes of it.
  const std::int64_t projected = is_projected(network) ? network.hidden + network.output : 0;
  const std::int64_t in_layers =
      rows * pseudo_layers(network) * (counts(network).kept * network.hidden + projected);
  const std::int64_t between = rows * (network.layers - 1) * network.directions;
  const std::int64_t dropped =
      network.has_dropout ? between * network.directions * network.output : 0;
  return network.number_bytes * (in_layers + between * network.hidden) + parts(dropped, 128) * 16 +
         kOwnBytes;
}

/// Beside the numbers above a copy of the matrices, and what a layer's products work in.
std::int64_t working_bytes(const RecurrentNetwork& network, const Sequences& sequences,
                           bool is_training) {
  constexpr std::int64_t kProductsBytes = std::int64_t{8} << 20;
  constexpr std::int64_t kOwnBytes = 256;
  const std::int64_t packed = sequences.packed ? 0 : packed_numbers(network, sequences);
  const bool in_registers = network.in_registers;
  std::int64_t numbers = packed + (in_registers ? gate_numbers_in_registers(network, sequences)
                                                : gate_numbers(network, sequences));
  if (is_training) {
    const std::int64_t gradients = in_registers ? gradient_numbers_in_registers(network, sequences)
                                                : gradient_numbers(network, sequences);
    numbers = std::max(numbers, gradients + 2 * packed);
  }
  // Two integers a sample say where its rows lie.
  const std::int64_t places = sequences.packed ? 0 : whole_parts(8 * sequences.samples, 32);
  return network.number_bytes * (matrices(network) + numbers) +
         pseudo_layers(network) * kProductsBytes + places + kOwnBytes;
}

}  // namespace headroom::dry_run
