// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "src/distributed/process_group.h"
#include "src/worker/case.h"
#include "src/worker/trainer.h"

namespace headroom {

/// A small case on the CPU that trains on one batch again and again, so that a step is timed
/// without its loading.
class Training {
 public:
  /// `techniques` as a suite's JSON: [{"name": "activation_checkpointing", "reentrant": true}].
  /// vit_ti_16, images of 64 x 64 pixels.
  static Training vit(std::string_view techniques, std::int64_t batch_size);
  /// The same as one of several ranks, which make it together.
  static Training vit_rank(const Membership& membership, std::string_view techniques,
                           std::int64_t batch_size);
  /// bert_mini, texts of 32 tokens.
  static Training bert(std::string_view techniques, std::int64_t batch_size);

  void step() { trainer_.step(batch_); }
  Ledger& ledger() { return ledger_; }

 private:
  explicit Training(const nlohmann::ordered_json& values, const Membership& membership = {});

  WorkerCase case_;
  Ledger ledger_;
  Trainer trainer_;
  Batch batch_;
};

}  // namespace headroom
