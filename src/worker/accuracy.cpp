// SPDX-License-Identifier: Apache-2.0
#include "src/worker/accuracy.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "techniques/mixed_precision.h"

namespace headroom {

std::optional<double> held_out_accuracy(Model& model, const Dataset& data, const Recipe& recipe) {
  const std::int64_t samples = std::min(recipe.train.held_out_samples, data.held_out_size());
  if (samples == 0) return std::nullopt;
  const at::NoGradGuard no_grad;
  const AutocastScope autocast(recipe.autocast_state());  // as the training steps compute
  model.set_training(false);
  std::int64_t right = 0;
  std::int64_t told = 0;
  for (std::int64_t start = 0; start < samples; start += recipe.micro_batch_size()) {
    std::vector<std::int64_t> indices(
        static_cast<std::size_t>(std::min(recipe.micro_batch_size(), samples - start)));
    std::iota(indices.begin(), indices.end(), start);
    const Batch on_host = data.held_out(indices);
    told += model.targets(on_host).ne(kNoTarget).sum().item<std::int64_t>();
    const Batch batch = on_host.to(recipe.device);
    right += model.logits(batch).argmax(-1).eq(model.targets(batch)).sum().item<std::int64_t>();
  }
  model.set_training(true);
  return static_cast<double>(right) / static_cast<double>(told);
}

}  // namespace headroom
