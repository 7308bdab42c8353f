// SPDX-License-Identifier: Apache-2.0
#include "src/optimizers/options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace headroom {

void OptimizerOptions::fields(Fields& f) {
  static constexpr std::array kOptimizers{
      Choice{"adam", "Adam; weight decay is added to the gradient"},
      Choice{"adamw", "AdamW; weight decay shrinks the weights"},
      Choice{"sgd", "stochastic gradient descent, with momentum or without"},
  };
  f.choice({"name", "which optimizer"}, name, kOptimizers);
  f.choice({"implementation", "how the update is computed: it decides the temporaries"},
           implementation);
  schedule_fields(f);
  f.number({"beta1", "decay of the first moment", {"adam", "adamw"}}, beta1, {0.0, 0.999999});
  f.number({"beta2", "decay of the second moment", {"adam", "adamw"}}, beta2, {0.0, 0.999999});
  f.number({"eps", "added to the denominator", {"adam", "adamw"}}, eps, {1e-12, 1.0});
  f.number({"weight_decay", "decay of the weights per update"}, weight_decay, {0.0, 1.0});
  f.number({"momentum", "0: no momentum and no state", {"sgd"}}, momentum, {0.0, 0.999999});
}

void OptimizerOptions::schedule_fields(Fields& f) {
  f.number({"lr", "learning rate of the first update"}, lr, {0.0, 10.0});
  f.choice({"schedule", "how the learning rate falls"}, schedule);
  f.integer({"schedule_steps", "updates until linear or cosine reaches 0"}, schedule_steps,
            {1, 1'000'000'000});
}

double OptimizerOptions::lr_at(std::int64_t step) const {
  const double done =
      std::min(1.0, static_cast<double>(step - 1) / static_cast<double>(schedule_steps));
  switch (schedule) {
    case Schedule::constant:
      return lr;
    case Schedule::linear:
      return lr * (1.0 - done);
    case Schedule::cosine:
      return lr * 0.5 * (1.0 + std::cos(std::numbers::pi * done));
  }
  return lr;
}

}  // namespace headroom
