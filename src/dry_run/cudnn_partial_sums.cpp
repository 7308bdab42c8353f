// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/cudnn_partial_sums.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "src/dry_run/parts.h"

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kAssumedMultiprocessors = 18;

struct Tile {
  std::int64_t rows, columns;
  /// How long it takes to add the sums of two, in steps of 64 half precision numbers.
  double addition;
};

/// By the values of CUDNN_KNOB_TYPE_TILE_SIZE that cuDNN chooses for these engines. Sizes follow
/// from the bytes of the sums, additions from where another cut begins or ends to pay.
struct TileOfKnob {
  std::int64_t value;
  Tile tile;
};
constexpr std::array kTiles{TileOfKnob{0, {128, 128, 7.75}},  TileOfKnob{1, {128, 64, 9.8}},
                            TileOfKnob{2, {128, 32, 14}},     TileOfKnob{3, {256, 128, 7.25}},
                            TileOfKnob{4, {256, 64, 7.6}},    TileOfKnob{5, {64, 64, 14}},
                            TileOfKnob{6, {128, 256, 7.35}},  TileOfKnob{7, {64, 128, 9.9}},
                            TileOfKnob{8, {64, 32, 20}},      TileOfKnob{9, {64, 256, 7.65}},
                            TileOfKnob{16, {256, 32, 14}},    TileOfKnob{18, {64, 192, 8.5}},
                            TileOfKnob{19, {128, 192, 7.35}}, TileOfKnob{20, {256, 96, 9.75}}};

/// How many clusters of a size an H100 holds at once: its multiprocessors come in groups that are
/// not of one size, and no cluster spans two.
struct ClustersOfSize {
  std::int64_t size, count;
};
constexpr std::int64_t kMeasuredMultiprocessors = 132;
constexpr std::array kClusters{ClustersOfSize{3, 39}, ClustersOfSize{4, 30}, ClustersOfSize{5, 22},
                               ClustersOfSize{6, 17}, ClustersOfSize{7, 15}, ClustersOfSize{8, 15},
                               ClustersOfSize{14, 7}, ClustersOfSize{16, 7}};

std::int64_t clusters_at_once(std::int64_t size, std::int64_t multiprocessors) {
  const auto* found = std::ranges::find(kClusters, size, &ClustersOfSize::size);
  return multiprocessors == kMeasuredMultiprocessors && found != kClusters.end()
             ? found->count
             : multiprocessors / size;
}

/// The numbers of a step along what is summed: 128 bytes.
std::int64_t step_size(cudnnDataType_t type) { return type == CUDNN_DATA_FLOAT ? 32 : 64; }

/// What an addition takes longer than that of half precision, in steps of the type.
double addition_of_type(cudnnDataType_t type) {
  if (type == CUDNN_DATA_FLOAT) return 2;
  return type == CUDNN_DATA_BFLOAT16 ? 7.5 : 1;
}

/// What one engine computes.
struct TiledProduct {
  Tile tile;
  std::int64_t cluster;   // tiles that are computed together
  std::int64_t clusters;  // of all tiles
  std::int64_t steps;     // along what is summed
  double addition;        // in these steps
  std::int64_t least_piece;
  bool may_cut;
};

struct Cluster {
  std::int64_t rows, columns;
};

/// `outputs`: the channels of the output, of a group.
TiledProduct tiled_product(const Convolution& convolution, Tile tile, Cluster cluster,
                           std::int64_t outputs) {
  const std::vector<std::int64_t>& filter = convolution.filter;
  const std::int64_t window = points(filter);
  const std::int64_t step = step_size(convolution.type);
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t steps = 0;
  if (convolution.pass == ConvolutionPass::forward) {
    rows = parts(convolution.output[0] * points(convolution.output), tile.rows);
    columns = parts(outputs, tile.columns);
    steps = parts(filter[1], step) * window;
  } else if (convolution.pass == ConvolutionPass::of_input) {
    rows = parts(convolution.input[0] * points(convolution.input), tile.rows);
    columns = parts(filter[1], tile.columns);
    steps = parts(outputs, step) * window;
  } else {
    rows = parts(outputs, tile.rows);
    columns = parts(filter[1], tile.columns) * window;
    steps = parts(convolution.output[0] * points(convolution.output), step);
  }
  return {.tile = tile,
          .cluster = cluster.rows * cluster.columns,
          .clusters = parts(rows, cluster.rows) * parts(columns, cluster.columns),
          .steps = steps,
          .addition = tile.addition * addition_of_type(convolution.type),
          .least_piece = convolution.type == CUDNN_DATA_FLOAT ? 33 : 17,
          .may_cut = false};
}

/// Sums are added two by two: how often, one after the other.
int levels(std::int64_t cuts) { return std::bit_width(static_cast<std::uint64_t>(cuts - 1)); }

/// The sums that are waited for in such an addition.
std::int64_t additions(std::int64_t cuts) {
  std::int64_t sum = 0;
  for (; cuts > 1; sum += cuts) cuts = parts(cuts, 2);
  return sum;
}

/// As many as have work when each piece has as many steps.
std::int64_t without_idle(std::int64_t steps, std::int64_t cuts) {
  return parts(steps, parts(steps, cuts));
}

/// Into how many pieces a tile is cut, where so many clusters are free for it and nothing was
/// computed before: many, or else those that take the least time.
std::int64_t cuts_of_only_turn(const TiledProduct& product, std::int64_t free) {
  const std::int64_t most = std::min(free, product.steps / product.least_piece);
  constexpr std::int64_t kMany = 8;
  constexpr std::int64_t kLeftAsTheyAre = 36;
  if (most > kLeftAsTheyAre) return without_idle(product.steps, most);
  if (most > kMany) return most;
  const auto time = [&](std::int64_t cuts) {
    return static_cast<double>(parts(product.steps, cuts)) + levels(cuts) * product.addition;
  };
  std::int64_t best = 1;
  for (std::int64_t cuts = 2; cuts <= free; ++cuts) {
    if (time(cuts) < time(best)) best = cuts;
  }
  return best;
}

/// The same where all were busy before: as many as are added in the time of an uncut tile.
std::int64_t cuts_of_last_turn(const TiledProduct& product, std::int64_t free) {
  while (free > 1 && levels(free) * product.addition > static_cast<double>(product.steps)) --free;
  return without_idle(product.steps, free);
}

/// Counters and partial sums, with room to align them.
std::int64_t kept_bytes(const TiledProduct& product, std::int64_t multiprocessors) {
  const std::int64_t at_once = clusters_at_once(product.cluster, multiprocessors);
  if (at_once == 0) return 0;
  constexpr std::int64_t kAlign = 127;
  constexpr std::int64_t kCounter = 4;
  const std::int64_t turns = product.clusters > 2 * at_once ? 1 : 0;  // one counter
  const std::int64_t left = product.clusters % at_once;
  std::int64_t cuts = 1;
  if (left > 0 && product.may_cut) {
    constexpr std::int64_t kMostCuts = 128;
    const std::int64_t free = std::min(at_once / left, kMostCuts);
    cuts = product.clusters > at_once ? cuts_of_last_turn(product, free)
                                      : cuts_of_only_turn(product, free);
  }
  if (cuts < 2) return turns * (kAlign + kCounter);
  const std::int64_t tiles = left * product.cluster;
  return kAlign + kCounter * (8 + tiles * additions(cuts) + turns) +
         4 * tiles * cuts * product.tile.rows * product.tile.columns;
}

std::int64_t knob(const KnobValues& knobs, cudnnBackendKnobType_t type) {
  const auto found = knobs.find(type);
  return found == knobs.end() ? -1 : found->second;
}

}  // namespace

std::int64_t missing_partial_sums(const Convolution& convolution, const KnobValues& knobs,
                                  std::int64_t multiprocessors) {
  const Cluster cluster{knob(knobs, CUDNN_KNOB_TYPE_TILE_CGA_M),
                        knob(knobs, CUDNN_KNOB_TYPE_TILE_CGA_N)};
  const std::int64_t without_sums = knob(knobs, CUDNN_KNOB_TYPE_WORKSPACE);
  const auto* tile =
      std::ranges::find(kTiles, knob(knobs, CUDNN_KNOB_TYPE_TILE_SIZE), &TileOfKnob::value);
  if (tile == kTiles.end() || cluster.rows < 1 || cluster.columns < 1 || without_sums < 0 ||
      convolution.input.size() < 3) {
    return 0;
  }
  // Groups of many channels are computed one after the other, others together.
  constexpr std::int64_t kManyChannels = 64;
  const bool is_grouped =
      convolution.filter[1] > kManyChannels && convolution.filter[1] < convolution.input[1];
  const std::int64_t count = is_grouped ? groups(convolution) : 1;
  TiledProduct product =
      tiled_product(convolution, tile->tile, cluster, convolution.filter[0] / count);
  product.may_cut = without_sums == 0;
  const auto bytes = [&](std::int64_t at_hand) {
    constexpr std::int64_t kUnit = 32;
    const std::int64_t of_group = kept_bytes(product, at_hand);
    return count > 1 ? whole_parts(count * of_group, kUnit) : of_group;
  };
  return bytes(multiprocessors) - bytes(std::min(multiprocessors, kAssumedMultiprocessors));
}

}  // namespace headroom::dry_run
