// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "models/data/dataset.h"

namespace headroom {

/// Which part of each batch a loader is for: ranks share a batch in equal parts.
struct BatchShare {
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
};

/// Endless shuffled batches of a data set's training part. The order depends on the seed and the
/// epoch alone, never on the number of workers: batch k is the same batch however it is loaded.
/// The last, smaller batch of an epoch is dropped.
class Loader {
 public:
  /// `batch_size`: samples of one share. `dataset` outlives the loader. Threads inherit the
  /// caller's LibTorch thread state, so that what they allocate is reported to the same observers.
  /// Throws ConfigError where the data set holds less than one batch of all shares.
  Loader(const Dataset& dataset, const DataOptions& options, std::int64_t batch_size,
         std::int64_t seed, const BatchShare& share = {});
  ~Loader();  // stops and joins the workers
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next batch, on the CPU: page-locked where the options say so and there is a CUDA device.
  /// An exception that a batch met with in a worker is thrown here in its place; the next call goes
  /// on with the batch after it.
  Batch next();

 private:
  class Order;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headroom
