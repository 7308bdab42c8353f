// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/core/fields.h"
#include "techniques/evidence.h"
#include "techniques/recipe.h"
#include "techniques/step.h"

namespace headroom {

/// One way to save memory. Its options are its members. The seams run once each, before the
/// first step, for all techniques of a case in the order in which the suite lists them: what is
/// listed later wraps what is listed earlier.
class Technique {
 public:
  virtual ~Technique() = default;

  virtual void fields(Fields&) {}
  /// Values only: no tensor exists yet.
  virtual void edit_recipe(Recipe&) const {}
  /// Once all techniques have edited: throws Unsupported where the recipe leaves no way.
  virtual void check_recipe(const Recipe&) const {}
  /// What the optimizer is to update: sharding.
  virtual void split_parameters(Step&, const Recipe&) const {}
  /// By blocks: checkpointing, sharding, offload.
  virtual void wrap_model(Step&, const Recipe&) const {}
  /// By verbs: autocast, scaling, updating.
  virtual void wrap_step(Step&, const Recipe&) const {}

  /// After the run: why the technique did nothing; empty where it was active.
  virtual std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const = 0;
};

}  // namespace headroom
