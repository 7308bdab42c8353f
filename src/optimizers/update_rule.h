// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "src/optimizers/options.h"

namespace headroom {

/// The tensors of one update, index by index. All of one device and dtype.
struct UpdateTensors {
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> gradients;
  std::vector<std::size_t> indices;  // of the parameters, by which state is kept
  /// What is kept of these parameters: state[k][i] is parameter i's tensor k, as the optimizer's
  /// row describes it; undefined where the parameter has fewer.
  std::vector<std::vector<at::Tensor>> state{};
};

/// Which update this is.
struct UpdateStep {
  double lr = 0.0;
  std::int64_t number = 1;  // from 1
  /// A device tensor of shape (1), above 0 where the update is to be skipped, or undefined. Only
  /// the fused implementation reads it: it alone can decide without the host.
  at::Tensor found_inf;
};

/// Makes a zeroed, contiguous tensor of the shape and dtype of `like`, where state is to live.
using StateFactory = std::function<at::Tensor(const at::Tensor& like)>;

/// The rule by which gradients change parameters.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  /// Updates the parameters and their state in place.
  virtual void apply(const UpdateTensors& tensors, const UpdateStep& step) = 0;
  /// What it keeps beside the parameters' own state.
  virtual std::vector<at::Tensor> counters() const { return {}; }
};

/// One tensor that an optimizer keeps of a parameter; it begins as zeros.
struct StateTensor {
  std::vector<std::int64_t> shape;
  at::ScalarType dtype;
};

/// The row of one optimizer that a suite can name. It stands at the end of the optimizer's file.
struct OptimizerEntry {
  std::string_view name;
  std::string_view summary;
  std::span<const Implementation> implementations;
  std::unique_ptr<UpdateRule> (*make)(const OptimizerOptions& options, StateFactory make_state);
  std::vector<StateTensor> (*state)(const OptimizerOptions& options, const at::Tensor& parameter);
  bool works_on_parts = true;  // a parameter may be cut or flattened: each number is on its own
};

/// All optimizers, in the order in which a suite's schema lists them.
std::span<const OptimizerEntry> optimizer_table();

/// The entry of that name; throws ConfigError with the allowed names.
const OptimizerEntry& find_optimizer(std::string_view name);

/// What a plan, whose values nobody reads, does in place of an update on the host: takes the bytes
/// that the update moves through the host's memory. Of each parameter the first is computed as
/// well, which makes all that later ones need. Empty: all are computed.
using PlannedUpdate = std::function<void(std::int64_t bytes)>;

/// The rule that the options name, with its state of `count` parameters. A parameter's state is
/// made at its first update.
class RuleWithState {
 public:
  RuleWithState(const OptimizerOptions& options, std::size_t count, StateFactory make_state,
                PlannedUpdate planned = {});

  /// Updates the parameters in place. `tensors` need no state. No parameters: does nothing.
  void apply(UpdateTensors tensors, const UpdateStep& step);
  /// All state, for the books.
  std::vector<at::Tensor> state() const;

 private:
  void compute(UpdateTensors tensors, const UpdateStep& step);
  void plan(const UpdateTensors& tensors, const UpdateStep& step);
  void add_state(UpdateTensors& tensors);

  const OptimizerEntry& entry_;
  OptimizerOptions options_;
  StateFactory make_state_;
  std::unique_ptr<UpdateRule> rule_;
  PlannedUpdate planned_;
  std::vector<bool> was_updated_;
  std::vector<std::vector<at::Tensor>> state_;  // by parameter
};

}  // namespace headroom
