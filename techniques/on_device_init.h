// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "techniques/technique.h"

namespace headroom {

/// Each parameter is made on the device and in the dtype in which it stays, one after the other.
/// Without it a model is built in full precision on the host, moved, and cast.
/// Saves: on the host 4P; on the device, where weights end narrower than fp32, 2P (on the CPU less
/// the fp32 draw of the largest parameter). Both in the peak of `init`.
/// Costs: nothing. On another device than the CPU the random weights are others.
/// Source: rasbt/pytorch-memory-optim 07.
class OnDeviceInit final : public Technique {
 public:
  void edit_recipe(Recipe& recipe) const override { recipe.build_on_device = true; }
  std::string why_inactive(const Evidence& evidence, const Recipe& recipe) const override;
};

}  // namespace headroom
