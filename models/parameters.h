// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

/// A named, trainable tensor of a model. The handle is shared with the layers that read it:
/// `tensor.set_data(...)` moves or casts it for all of them.
struct Parameter {
  std::string name;
  at::Tensor tensor;
};

/// A named tensor of a model that no gradient changes, but its own forward passes while it trains:
/// the running statistics of a normalisation. The handle is shared as a parameter's is.
struct Buffer {
  std::string name;
  at::Tensor tensor;
};

/// What parameters begin with.
enum class Start {
  drawn,  // as the model asks
  zeros,  // where nothing is computed with them: drawing, and touching memory of their own on the
          // host, take most of the time of making a model
};

/// Is handed a parameter that is complete, with its index in the order of making.
using MadeParameter = std::function<void(std::size_t, const at::Tensor&)>;

/// Makes a model's parameters, in the order in which the model asks, so that a seed gives the same
/// model everywhere. Values are drawn on `device` from its default generator. On the CPU they are
/// drawn in fp32 (or fp64), and where `dtype` is narrower, that one parameter is cast at once: the
/// fp32 copy lives for one parameter, and the weights equal those of a model cast as a whole.
class ParameterFactory {
 public:
  /// `made` sees each parameter before the next one is made; it may take the memory away.
  ParameterFactory(at::Device device, at::ScalarType dtype, Start start = Start::drawn,
                   MadeParameter made = {})
      : device_(device), dtype_(dtype), start_(start), made_(std::move(made)) {}

  at::Tensor normal(const std::string& name, at::IntArrayRef shape, double stddev);
  at::Tensor uniform(const std::string& name, at::IntArrayRef shape,
                     double bound);  // [-bound, bound]
  at::Tensor constant(const std::string& name, at::IntArrayRef shape, double value);
  /// A buffer in the dtype of the parameters, and one that counts: () int64, 0. `made` sees none.
  at::Tensor buffer(const std::string& name, at::IntArrayRef shape, double value);
  at::Tensor counter(const std::string& name);

  /// All that were made, in order. The factory has none afterwards.
  std::vector<Parameter> take();
  std::vector<Buffer> take_buffers() { return std::exchange(buffers_, {}); }

 private:
  at::Tensor empty(at::IntArrayRef shape) const;
  at::Tensor keep(const std::string& name, at::Tensor values);
  void hand_over_last();

  at::Device device_;
  at::ScalarType dtype_;
  Start start_;
  MadeParameter made_;
  std::vector<Parameter> parameters_;
  std::vector<Buffer> buffers_;
};

}  // namespace headroom
