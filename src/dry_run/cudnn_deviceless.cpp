// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/cudnn_deviceless.h"

#include <algorithm>
#include <array>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

std::int64_t element_bytes(const Convolution& convolution) {
  return bytes_of({convolution.type, {1}});
}

/// Of all dimensions behind samples and channels.
std::int64_t points(const std::vector<std::int64_t>& sizes) {
  return elements({sizes.begin() + 2, sizes.end()});
}

/// Without groups.
bool is_product(const Convolution& convolution) {
  return is_of_points(convolution) && convolution.filter[1] == convolution.input[1];
}

std::int64_t parts(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

/// The product of matrices that a convolution is for these engines.
struct Tiles {
  std::int64_t count = 0;
  std::int64_t bytes = 0;  // of one: sums in 32 bits
  std::int64_t depth = 0;  // the steps along what is summed, 128 bytes each
};

struct TileSize {
  std::int64_t rows, columns;
};

/// The values of CUDNN_KNOB_TYPE_TILE_SIZE that cuDNN chooses for them, by their kernels' names.
struct TileOfKnob {
  std::int64_t value;
  TileSize size;
};
constexpr std::array kTiles{TileOfKnob{0, {128, 128}}, TileOfKnob{1, {128, 64}},
                            TileOfKnob{3, {256, 128}}, TileOfKnob{4, {256, 64}},
                            TileOfKnob{5, {64, 64}},   TileOfKnob{7, {64, 128}}};

/// `cluster`: tiles at a time, along rows and columns.
Tiles tiles_of(const Convolution& convolution, TileSize tile, TileSize cluster) {
  const auto tiled = [&](std::int64_t rows, std::int64_t columns) {
    return parts(parts(rows, tile.rows), cluster.rows) * cluster.rows *
           parts(parts(columns, tile.columns), cluster.columns) * cluster.columns;
  };
  const std::vector<std::int64_t>& filter = convolution.filter;
  Tiles tiles{.bytes = 4 * tile.rows * tile.columns};
  std::int64_t summed = 0;
  if (convolution.pass == ConvolutionPass::forward) {
    tiles.count = tiled(convolution.output[0] * points(convolution.output), filter[0]);
    summed = filter[1] * points(filter);
  } else if (convolution.pass == ConvolutionPass::of_input) {
    tiles.count = tiled(convolution.input[0] * points(convolution.input), filter[1]);
    summed = filter[0] * points(filter);
  } else {
    tiles.count = tiled(filter[0], filter[1]) * points(filter);
    summed = convolution.output[0] * points(convolution.output);
  }
  tiles.depth = parts(summed * element_bytes(convolution), 128);
  return tiles;
}

/// Tiles that are left when all multiprocessors have had as many are cut along what they sum, at
/// least in two, where all cuts find one that is free. Cuts are not below some steps.
std::int64_t partial_sums(const Tiles& tiles, std::int64_t multiprocessors) {
  const std::int64_t left = multiprocessors > 0 ? tiles.count % multiprocessors : 0;
  if (left == 0) return 0;
  const std::int64_t least_depth = tiles.count < multiprocessors ? 16 : 8;
  const std::int64_t cuts = std::min(multiprocessors / left, tiles.depth / least_depth);
  return cuts < 2 ? 0 : left * cuts * tiles.bytes;
}

}  // namespace

std::optional<std::int64_t> product_workspace(const Convolution& convolution) {
  const std::int64_t element = element_bytes(convolution);
  if (convolution.input.size() < 3 || convolution.channels_last || element > 4 ||
      !is_product(convolution) || points(convolution.input) * element % 16 != 0) {
    return std::nullopt;
  }
  if (convolution.pass != ConvolutionPass::of_filter) return 0;
  const std::int64_t summed = 4 * convolution.input[0] * elements(convolution.filter);
  const std::int64_t copied =
      element * (elements(convolution.input) + elements(convolution.output));
  return summed > copied ? std::nullopt : std::optional(summed);
}

std::int64_t missing_partial_sums(const Convolution& convolution, const KnobValues& knobs) {
  constexpr std::int64_t kAssumed = 18;
  const auto value = [&](cudnnBackendKnobType_t knob) {
    const auto found = knobs.find(knob);
    return found == knobs.end() ? -1 : found->second;
  };
  const TileSize cluster{value(CUDNN_KNOB_TYPE_TILE_CGA_M), value(CUDNN_KNOB_TYPE_TILE_CGA_N)};
  const auto* tile =
      std::ranges::find(kTiles, value(CUDNN_KNOB_TYPE_TILE_SIZE), &TileOfKnob::value);
  if (tile == kTiles.end() || cluster.rows < 1 || cluster.columns < 1 ||
      value(CUDNN_KNOB_TYPE_WORKSPACE) != 0 || convolution.input.size() < 3) {
    return 0;
  }
  const Tiles tiles = tiles_of(convolution, tile->size, cluster);
  const std::int64_t together = cluster.rows * cluster.columns;
  const auto of = [&](std::int64_t multiprocessors) {
    return partial_sums(tiles, multiprocessors / together * together);
  };
  const std::int64_t all = dry_run().gpu.multiprocessors;
  return of(all) - of(std::min(all, kAssumed));
}

}  // namespace headroom::dry_run
