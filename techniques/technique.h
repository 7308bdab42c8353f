// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/fields.h"
#include "src/core/fit_cost.h"
#include "techniques/recipe.h"
#include "techniques/step.h"

namespace headroom {

/// One way to save memory. Its options are its members. Each seam runs once, before the first step,
/// for all techniques of a case in the order in which the suite lists them. Of two techniques that
/// wrap the same block or verb at the same seam, the one listed later is outside and calls the one
/// listed earlier. All of split_parameters runs before all of wrap_model, and that before all of
/// wrap_step: so sharding, which wraps blocks and verbs as it splits the parameters, is innermost
/// wherever the suite lists it.
class Technique {
 public:
  virtual ~Technique() = default;

  virtual void fields(Fields&) {}
  /// Values only: no tensor exists yet.
  virtual void edit_recipe(Recipe&) const {}
  /// Once all techniques have edited: throws Unsupported where the recipe leaves no way.
  virtual void check_recipe(const Recipe&) const {}
  /// A model is made, and its parameters may have no memory yet: makes more of them, which the
  /// model takes in behind its own, and says which are not trained. It may run for several models.
  virtual void extend_model(Model&, ParameterFactory&) const {}
  /// What the optimizer is to update: sharding.
  virtual void split_parameters(Step&, const Recipe&) const {}
  /// By blocks: checkpointing, offload.
  virtual void wrap_model(Step&, const Recipe&) const {}
  /// By verbs: autocast, scaling, updating.
  virtual void wrap_step(Step&, const Recipe&) const {}

  /// After the run: why the technique did nothing; empty where it was active.
  virtual std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const = 0;
};

/// An option that makes a technique round, where it is not at its default, and what it adds to the
/// technique's tolerances then.
struct RoundingOption {
  std::string_view option = {};  // empty: there is none
  double loss_tolerance = 0.0;
  double gradient_tolerance = 0.0;
};

/// The row of one technique that a suite can name. It stands at the end of the technique's file.
///
/// Units of all formulas: bytes, in fp32 unless they say otherwise. P is the model's count of
/// parameters, so that weights are 4P, gradients 4P and Adam's state 8P bytes. N is the number of
/// ranks, L that of blocks; (B, T, D) are samples of a micro-batch, tokens, width.
struct TechniqueEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view saves;
  std::string_view costs;
  std::string_view source;
  std::unique_ptr<Technique> (*make)();
  /// How far, relative to the same case without techniques, the loss of the first step may lie
  /// (dropout 0). 0: not one bit.
  double loss_tolerance = 0.0;
  /// ... and the norm of the first step's gradients. Sums in another order differ in last bits.
  double gradient_tolerance = 1e-5;
  RoundingOption rounds_by = {};
  /// Names of techniques it can't be combined with, beyond the rule of `excluded_by`; one side
  /// names the other.
  std::span<const std::string_view> excludes = {};
  bool trains_others = false;     // not the model's own parameters, so that the first gradient's
                                  // norm is another's
  bool draws_on_device = false;   // random weights: another device than the CPU has others
  bool joins_ranks = false;       // it makes one training of what all ranks do
  bool replicates_batch = false;  // ... of the same samples
  bool splits_batch = false;      // what forward passes read is less than a batch: micro-batches
  FitCost fit_cost = {};          // where `headroom fit` stacks it
  std::string_view changes = {};  // of what is computed, for people; empty: nothing but rounding
};

/// For a row's `make`.
template <class T>
std::unique_ptr<Technique> make_technique() {
  return std::make_unique<T>();
}

/// All techniques, in the order in which `headroom list techniques` prints them.
std::span<const TechniqueEntry> technique_table();

/// What the entry excludes; of all that join ranks, a case has one.
std::vector<std::string_view> excluded_by(const TechniqueEntry& entry);

/// The entry of that name; throws ConfigError with the allowed names.
const TechniqueEntry& find_technique(std::string_view name);

}  // namespace headroom
