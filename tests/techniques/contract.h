// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/table.h"
#include "tests/techniques/training.h"

namespace headroom {

/// What a technique leaves as it was.
enum class Promise {
  same_bits,      // losses, weights and gradients to the last bit
  same_training,  // losses and weights to the last bit; the gradients' norm is summed otherwise
  same_sums,      // the same numbers, added in another order
  rounding,       // other numbers; losses near those of the plain case
  same_start,     // the first loss, but for rounding; then other weights are trained
};

/// What the tests hold a technique to. A technique without a contract fails them.
struct Contract {
  std::string_view technique;
  Promise promise = Promise::same_bits;
  double loss_tolerance = 0.0;            // relative; of `rounding`
  Json (*options)() = nullptr;            // of the technique in these tests; none: its defaults
  void (*edit_control)(Json&) = nullptr;  // what the case without the technique has to say instead
  std::string_view needs = "";            // a technique without which it does nothing on the CPU
  std::string_view for_idle_parameters = "";  // an option to set where some get no gradient
  bool of_tokens = false;                     // refused but for models that tell each token's class
  bool of_one_shape = false;                  // refused where blocks hand on images
  bool of_named_layers = false;               // refused where blocks name no layers
  bool of_cuda = false;                       // refused on the CPU
};

std::span<const Contract> contracts();

/// Fails the test, and returns an empty contract, where there is none.
const Contract& contract_of(std::string_view name);

/// The row of the case's model.
const ModelEntry& row_of_model(const Json& values);

/// Whether the case's model, by its row, is one for the technique.
bool fits(const Contract& contract, const Json& values);

/// The technique with the options that its contract names.
Json contracted(std::string_view name);

/// Whether the worker refuses the case as Unsupported.
bool refused(const Json& values);

}  // namespace headroom
