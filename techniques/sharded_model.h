// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/distributed/flat_unit.h"
#include "src/memory/streams.h"
#include "techniques/narrow_weights.h"
#include "techniques/technique.h"

namespace headroom {

/// What ranks share, and when bytes move.
struct ShardingOptions {
  /// gradients: a unit's are reduced as soon as they are there; weights: blocks gather those that
  /// other ranks have when they run.
  Sharding sharding = Sharding::state;
  bool reshard_after_forward = true;  // false: blocks keep what they gathered until backward
  bool prefetch_forward = false;      // the next block's weights, while one runs
  bool prefetch_backward = true;      // likewise, the other way
  bool limit_all_gathers = true;      // the host waits until all but two blocks are released
  std::optional<at::ScalarType> reduce_dtype{};  // of gradients while they are reduced
  // Of a part's gradient, once reduced: true, as it arose, and the update widens it; else the
  // part's.
  bool keep_gradient_dtype = false;
  std::int64_t min_parameters = 0;  // blocks share a unit until it has so many
  bool one_unit = false;            // all blocks and all else
};

/// A model in flat units that ranks share in equal parts: one for each block, or a few neighbours,
/// and one for all else, the root; or the root alone. What the optimizer updates are this rank's
/// parts.
///
/// After PyTorch's FullyShardedDataParallel: parts are fetched, weights gathered and gradients
/// reduced on three streams of their own, so that they run beside the computation. On the CPU a
/// gather or a reduction that was begun runs on the backend's own threads.
class ShardedModel : public std::enable_shared_from_this<ShardedModel> {
 public:
  // What the techniques that share a model do at the seams of their names.
  static void edit_recipe(Recipe& recipe, Sharding sharding);
  static std::string why_inactive(const Evidence& evidence, WeightDtype parameter_dtype);

  /// Cuts the step's model into units and wraps its blocks, its verbs and its `trained`, which keep
  /// the sharded model alive. All arguments but the options outlive it.
  static void take_over(Step& step, const Recipe& recipe, const ShardingOptions& options);

 private:
  ShardedModel(Step& step, const Recipe& recipe, const ShardingOptions& options);

  struct Unit {
    std::unique_ptr<FlatUnit> trained;    // null: there is none
    std::unique_ptr<FlatUnit> frozen;     // likewise
    std::size_t arrived = 0;              // gradients of `trained`, in this backward pass
    bool reduced = false;                 // in this backward pass
    std::vector<Collective> gathering{};  // not waited for yet

    template <class Call>
    void for_each(const Call& call) const {
      if (trained) call(*trained);
      if (frozen) call(*frozen);
    }
    bool is_gathered() const;
  };
  /// A reduction that may still run.
  struct Reduction {
    FlatUnit& unit;
    at::Tensor whole;  // its input
    at::Tensor part;   // its output
    Collective work;
  };

  /// A gradient on its way to the host.
  struct Arrival {
    FlatUnit& unit;
    at::Tensor on_host;
  };

  void make_units();
  void draw_parameters();
  void add_unit(const std::vector<at::Tensor>& parameters);
  std::unique_ptr<FlatUnit> make_flat(std::vector<at::Tensor> parameters);
  void wrap_blocks();
  void wrap_block(std::size_t index, Block& block);
  void wrap_run();
  void wrap_verbs();

  bool shards(Sharding what) const { return options_.sharding >= what; }
  Unit& root() { return units_.back(); }
  void begin_gather(Unit& unit);
  at::Tensor fetch_part(const FlatUnit& flat);
  void finish_gather(Unit& unit);
  void release(Unit& unit);

  void note_gradient(std::size_t parameter);
  void reduce(Unit& unit);
  void begin_reduction(FlatUnit& unit, const at::Tensor& gradient);
  void finish_reduction();
  void send_gradient(FlatUnit& unit, const at::Tensor& part);
  void keep_gradient(FlatUnit& unit, const at::Tensor& part);
  void collect_from_device();
  void reduce_all();
  void finish_backward();
  void publish_weights();
  std::vector<WeightPart> own_weights() const;

  Step& step_;
  const Recipe& recipe_;
  ShardingOptions options_;
  ProcessGroup& group_;
  bool on_host_;             // parts stay there, and gradients go there
  SideStream fetch_stream_;  // of parts that are kept elsewhere, or wider, than they are gathered
  SideStream gather_stream_;
  SideStream reduce_stream_;
  std::vector<Unit> units_;  // in the order of blocks, and the root behind them
  std::vector<std::size_t> unit_of_block_;
  std::vector<std::size_t> unit_of_parameter_;  // of the model
  std::deque<StreamPoint> releases_;            // of units whose memory may still be in use
  std::optional<Reduction> reduction_;
  std::vector<Arrival> arrivals_;
};

}  // namespace headroom
