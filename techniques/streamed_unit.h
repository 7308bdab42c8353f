// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

/// Parameters that stay on the host in one piece of memory. On the device they are views of a
/// buffer that several units take in turns, and so are their gradients.
class StreamedUnit {
 public:
  struct Dtypes {
    at::ScalarType on_host;    // of what the optimizer updates
    at::ScalarType on_device;  // of weights and gradients at work
  };

  /// Takes over the parameters with their values, where they have memory; elsewhere receive()
  /// brings them. They can be read once put_in() was called.
  StreamedUnit(std::vector<at::Tensor> parameters, at::Device device, const Dtypes& dtypes);

  /// Elements of a buffer that holds the unit. Each parameter begins at a multiple of 256 bytes, as
  /// if it had been allocated by itself.
  std::int64_t elements() const { return elements_; }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  /// The parameters on the host, each a leaf in its own shape: for an optimizer.
  const std::vector<at::Tensor>& on_host() const { return on_host_; }

  /// The values of one parameter, by its place among parameters().
  void receive(std::size_t parameter, const at::Tensor& values);

  /// Copies the weights into a buffer on the device, (elements) or longer, on the current stream.
  /// Gives how many bytes.
  std::int64_t fetch(const at::Tensor& buffer) const;
  /// Makes the parameters views of such a buffer.
  void put_in(const at::Tensor& buffer) const;
  /// Makes their gradients views of another one, all zeros, to which backward adds.
  void put_gradients_in(const at::Tensor& buffer) const;

  /// Starts copying the gradients from that buffer to the host, on the current stream, and takes
  /// them from the parameters. They are there when the stream is through: flat, in page-locked
  /// memory.
  at::Tensor send_gradients(const at::Tensor& buffer) const;
  /// Makes what arrived the gradients of on_host().
  void take_gradients(const at::Tensor& arrived) const;

  /// Once on_host() was updated: brings what is fetched up to date, where it is a narrower copy.
  void publish() const;

 private:
  std::vector<at::Tensor> views_of(const at::Tensor& flat) const;

  std::vector<at::Tensor> parameters_;
  std::vector<std::int64_t> starts_;  // of each parameter, elements
  std::int64_t elements_ = 0;
  std::vector<at::Tensor> on_host_;
  at::Tensor kept_;     // (elements), on the host
  at::Tensor fetched_;  // the same in the device's dtype; kept_ itself where that is the host's
};

}  // namespace headroom
