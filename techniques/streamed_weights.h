// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "src/memory/streams.h"
#include "techniques/step.h"
#include "techniques/streamed_table.h"
#include "techniques/streamed_unit.h"

namespace headroom {

/// A model's weights on the host, and on the device those that are at work: a block's and the next
/// one's, which arrive meanwhile, in two buffers that all blocks take in turns, and what embed()
/// and head() read. Gradients have two such buffers as well: a block's go to the host while the
/// next one computes, and what the host does with them it does then.
class StreamedWeights {
 public:
  /// The arguments but the dtypes outlive it.
  StreamedWeights(Step& step, at::Device device, const StreamedUnit::Dtypes& dtypes);

  /// All parameters on the host, in the model's order: for the optimizer.
  std::vector<at::Tensor> trained() const;
  /// The values of one of the model's parameters.
  void receive(std::size_t parameter, const at::Tensor& values);

  /// Fetches what embed() and head() read, but for rows of a table.
  void fetch_ends();
  /// Makes their gradients zeros, to which backward adds.
  void open_ends();
  /// Sends them to the host, and waits for all gradients that are on their way.
  void close_ends();

  /// Fetches the rows that these inputs name. Gives the inputs that embed() is to be given then:
  /// ids on the CPU, that count these rows. Where the model has no table, the inputs.
  at::Tensor fetch_rows(const at::Tensor& inputs);
  /// Makes the rows' gradients zeros, and sends them; nothing to do without a table.
  void open_rows();
  void send_rows();

  using Work = std::function<void(std::size_t block)>;
  /// Calls `work` for each block, from the first to the last, while its weights are there.
  void forward(const Work& work);
  /// From the last to the first; gradients are added up while `work` runs, and sent.
  void backward(const Work& work);

  /// Called with the indices of parameters whose gradients have arrived on the host. Gives whether
  /// it has updated them.
  std::function<bool(const std::vector<std::size_t>&)> arrived = [](const auto&) { return false; };
  /// Once parameters were updated on the host by anybody else.
  void publish() const;

  /// Calls a function while all parameters are on the device, beside what is there already.
  void with_weights(const std::function<void()>& call);

 private:
  /// Gradients on their way to the host.
  struct Arrival {
    std::size_t unit;
    at::Tensor on_host;
    StreamPoint there;
  };
  struct GradientBuffer {
    at::Tensor memory;
    std::optional<StreamPoint> sent;  // when it can be used again
  };

  std::size_t blocks() const { return units_.size() - 1; }
  std::size_t ends() const { return units_.size() - 1; }
  at::Tensor make_buffer(std::int64_t elements, Category category) const;
  void make_buffers();
  void make_table_buffers(std::int64_t ids);
  void visit(bool forward, const Work& work);
  void fetch(std::size_t block);
  void send(std::size_t unit, const std::function<at::Tensor()>& send);
  void take_first_arrival();

  Step& step_;
  at::Device device_;
  StreamedUnit::Dtypes dtypes_;
  std::vector<StreamedUnit> units_;                // of the blocks, and of embed() and head()
  std::vector<std::vector<std::size_t>> indices_;  // of their parameters
  std::optional<StreamedTable> table_;             // as if it were one more unit
  SideStream fetch_stream_;
  SideStream send_stream_;
  std::vector<at::Tensor> weights_;          // two
  std::vector<GradientBuffer> gradients_{};  // two
  at::Tensor weights_of_ends_;
  at::Tensor gradients_of_ends_;
  // Of a table's rows: those of blocks, as no block is at work while embed() is, or larger ones.
  at::Tensor weights_of_table_;
  at::Tensor gradients_of_table_;
  std::deque<Arrival> arrivals_;
};

}  // namespace headroom
