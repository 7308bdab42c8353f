// SPDX-License-Identifier: Apache-2.0
#include "models/data/loader.h"

#include <ATen/Context.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/ops/empty.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "models/data/random.h"
#include "src/core/error.h"

namespace headroom {
namespace {

/// A copy in page-locked memory. Not Tensor::pin_memory(): its copy would start a team of OpenMP
/// threads for each worker, beside those that train.
at::Tensor pin(const at::Tensor& tensor) {
  at::Tensor pinned = at::empty(tensor.sizes(), tensor.options().pinned_memory(true));
  std::memcpy(pinned.mutable_data_ptr(), tensor.const_data_ptr(), tensor.nbytes());
  return pinned;
}

/// What `load` returned or threw, for whoever asks for the batch.
std::future<Batch> outcome(const std::function<Batch()>& load) {
  std::packaged_task<Batch()> task(load);
  task();
  return task.get_future();
}

}  // namespace

/// Which samples a share of batch k holds.
class Loader::Order {
 public:
  Order(std::int64_t samples, std::int64_t batch_size, std::int64_t seed, const BatchShare& share)
      : samples_(samples),
        batch_size_(batch_size),
        share_(share),
        seed_(static_cast<std::uint64_t>(seed)) {}

  std::span<const std::int64_t> batch(std::int64_t k) {
    const std::int64_t batches = samples_ / (batch_size_ * share_.ranks);
    if (epoch_ != k / batches) {
      epoch_ = k / batches;
      indices_ = shuffled(samples_, random_bits(seed_, static_cast<std::uint64_t>(epoch_)));
    }
    const std::int64_t share = k % batches * share_.ranks + share_.rank;
    return std::span(indices_).subspan(static_cast<std::size_t>(share * batch_size_),
                                       static_cast<std::size_t>(batch_size_));
  }

 private:
  std::int64_t samples_;
  std::int64_t batch_size_;
  BatchShare share_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;  // whose order `indices_` is
  std::vector<std::int64_t> indices_;
};

struct Loader::State {
  State(const Dataset& data, const DataOptions& options, std::int64_t batch_size, std::int64_t seed,
        const BatchShare& share)
      : dataset(data),
        first_order(data.train_size(), batch_size, seed, share),
        pinned(options.pinned && at::hasCUDA()),
        prefetch(static_cast<std::size_t>(options.prefetch)),
        queues(static_cast<std::size_t>(options.workers)) {
    // Last, when all that they read is there.
    for (std::size_t i = 0; i < queues.size(); ++i) {
      threads.emplace_back([this, i](const std::stop_token& stop) { work(i, stop); });
    }
  }

  Batch load(std::span<const std::int64_t> indices) const {
    Batch batch = dataset.train(indices);
    if (!pinned) return batch;
    return {
        .inputs = pin(batch.inputs),
        .attention_mask = batch.attention_mask.defined() ? pin(batch.attention_mask) : at::Tensor(),
        .labels = pin(batch.labels)};
  }

  /// Worker `number` makes the batches number, number + workers, number + 2 workers, ... It waits
  /// for room before it makes one, so that no more than `prefetch` are alive in its queue.
  void work(std::size_t number, const std::stop_token& stop) {
    const at::ThreadLocalStateGuard inherit(thread_state);
    Order order = first_order;
    std::deque<std::future<Batch>>& queue = queues[number];
    for (std::size_t k = number;; k += queues.size()) {
      {
        std::unique_lock lock(mutex);
        if (!changed.wait(lock, stop, [&] { return queue.size() < prefetch; })) return;
      }
      std::future<Batch> batch =
          outcome([&] { return load(order.batch(static_cast<std::int64_t>(k))); });
      const std::scoped_lock lock(mutex);
      queue.push_back(std::move(batch));
      changed.notify_all();
    }
  }

  Batch take(std::int64_t k) {
    std::future<Batch> ready;
    {
      std::unique_lock lock(mutex);
      auto& queue = queues[static_cast<std::size_t>(k) % queues.size()];
      changed.wait(lock, [&] { return !queue.empty(); });
      ready = std::move(queue.front());
      queue.pop_front();
    }
    changed.notify_all();
    return ready.get();
  }

  const Dataset& dataset;
  Order first_order;  // the training thread's; each worker begins with a copy
  bool pinned;
  std::size_t prefetch;
  std::int64_t next_batch = 0;
  at::ThreadLocalState thread_state;  // the caller's

  std::mutex mutex;  // guards the queues
  std::condition_variable_any changed;
  std::vector<std::deque<std::future<Batch>>> queues;  // one for each worker
  std::vector<std::jthread> threads;                   // last: stopped and joined first
};

Loader::Loader(const Dataset& dataset, const DataOptions& options, std::int64_t batch_size,
               std::int64_t seed, const BatchShare& share) {
  const std::int64_t needed = batch_size * share.ranks;
  if (batch_size < 1 || dataset.train_size() < needed) {
    throw ConfigError("data " + options.name + " has " + std::to_string(dataset.train_size()) +
                      " samples to train on, a batch needs " + std::to_string(needed));
  }
  state_ = std::make_unique<State>(dataset, options, batch_size, seed, share);
}

Loader::~Loader() = default;

Batch Loader::next() {
  State& state = *state_;
  const std::int64_t k = state.next_batch++;
  return state.queues.empty() ? state.load(state.first_order.batch(k)) : state.take(k);
}

}  // namespace headroom
