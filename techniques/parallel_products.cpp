// SPDX-License-Identifier: Apache-2.0
#include "techniques/parallel_products.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "src/memory/device_memory.h"

namespace headroom {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// What a function of autograd keeps beside tensors. The products outlive every graph.
struct Kept {
  ParallelProducts& products;
  std::int64_t tokens;  // the dimension

  void put_in(AutogradContext& context) const {
    context.saved_data["products"] = reinterpret_cast<std::int64_t>(&products);
    context.saved_data["tokens"] = tokens;
  }
  static Kept of(AutogradContext& context) {
    return {*reinterpret_cast<ParallelProducts*>(context.saved_data["products"].toInt()),
            context.saved_data["tokens"].toInt()};
  }
};

at::Tensor rows_of(const at::Tensor& x) { return x.reshape({-1, x.size(-1)}); }

/// x, then all layers' weights, then their biases or none -> outputs. Written out, as what backward
/// keeps of x is this rank's tokens of it, and what it sums over ranks is one gradient for all
/// layers.
struct ColumnParallel : Function<ColumnParallel> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x,
                               at::TensorList weights, at::TensorList biases, const Kept& kept) {
    kept.put_in(*context);
    context->saved_data["biases"] = static_cast<std::int64_t>(biases.size());
    const at::Tensor all = kept.products.all_tokens(x, kept.tokens);
    variable_list outputs;
    variable_list saved{x};
    for (std::size_t i = 0; i < weights.size(); ++i) {
      outputs.push_back(biases.empty() ? at::linear(all, weights[i])
                                       : at::linear(all, weights[i], biases[i]));
      saved.push_back(weights[i]);
    }
    if (!all.is_alias_of(x)) release_storage(all);
    context->save_for_backward(std::move(saved));
    return outputs;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Kept kept = Kept::of(*context);
    const variable_list saved = context->get_saved_variables();
    const std::size_t layers = gradients.size();
    const auto biases = static_cast<std::size_t>(context->saved_data["biases"].toInt());
    variable_list results(layers + biases + 2);  // of x, weights, biases, and `kept`
    const at::Tensor all = kept.products.all_tokens(saved[0], kept.tokens);
    for (std::size_t i = 0; i < layers; ++i) {
      const at::Tensor gradient = rows_of(gradients[i]);
      const std::size_t weight = 1 + i;
      const std::size_t bias = weight + layers;
      if (context->needs_input_grad(weight)) results[weight] = gradient.t().mm(rows_of(all));
      if (biases > 0 && context->needs_input_grad(bias)) results[bias] = gradient.sum(0);
    }
    const std::vector<std::int64_t> sizes = all.sizes().vec();
    if (!all.is_alias_of(saved[0])) release_storage(all);
    if (!context->needs_input_grad(0)) return results;
    at::Tensor of_x;
    for (std::size_t i = layers; i-- > 0;) {
      const at::Tensor gradient = rows_of(gradients[i]);
      if (of_x.defined()) {
        of_x.addmm_(gradient, saved[i + 1]);
      } else {
        of_x = gradient.mm(saved[i + 1]);
      }
    }
    results[0] = kept.products.sum(of_x.view(sizes), kept.tokens);
    return results;
  }
};

/// The sum over ranks; its gradient is that of each summand.
struct Sum : Function<Sum> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const Kept& kept) {
    kept.put_in(*context);
    if (!kept.products.sequence_parallel()) context->mark_dirty({x});
    return kept.products.sum(x, kept.tokens);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Kept kept = Kept::of(*context);
    return {kept.products.all_tokens(gradients[0], kept.tokens), {}};
  }
};

/// All ranks' tokens -> this rank's.
struct Own : Function<Own> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const Kept& kept) {
    kept.put_in(*context);
    return kept.products.own_tokens(x, kept.tokens);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Kept kept = Kept::of(*context);
    return {kept.products.all_tokens(gradients[0], kept.tokens), {}};
  }
};

/// This rank's tokens -> all ranks', of which each then does the same.
struct All : Function<All> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const Kept& kept) {
    kept.put_in(*context);
    return kept.products.all_tokens(x, kept.tokens);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Kept kept = Kept::of(*context);
    return {kept.products.own_tokens(gradients[0], kept.tokens), {}};
  }
};

/// As autocast would cast it for a product.
at::Tensor for_product(const at::Tensor& tensor) {
  const at::DeviceType device = tensor.device().type();
  if (!at::autocast::is_autocast_enabled(device)) return tensor;
  return at::autocast::cached_cast(at::autocast::get_autocast_dtype(device), tensor, device);
}

}  // namespace

at::Tensor ParallelProducts::all_tokens(const at::Tensor& x, std::int64_t dimension) const {
  if (!sequence_parallel_) return x;
  ++step_.evidence.gathers;
  return parts_->gather(x, dimension);
}

at::Tensor ParallelProducts::own_tokens(const at::Tensor& x, std::int64_t dimension) const {
  return parts_->own(x, dimension);
}

at::Tensor ParallelProducts::sum(const at::Tensor& x, std::int64_t dimension) const {
  ++step_.evidence.reductions;
  if (sequence_parallel_) return parts_->sum(x, dimension);
  step_.group->all_reduce(x).wait();
  return x;
}

at::Tensor ParallelProducts::enter_blocks(const at::Tensor& x) {
  if (!sequence_parallel_) return x;
  parts_.emplace(*step_.group, step_.ledger, x.size(1));
  return Own::apply(x, Kept{*this, 1});
}

at::Tensor ParallelProducts::leave_blocks(const at::Tensor& x) {
  return sequence_parallel_ ? All::apply(x, Kept{*this, 1}) : x;
}

std::vector<at::Tensor> ParallelProducts::column_parallel(const at::Tensor& x, std::int64_t tokens,
                                                          std::initializer_list<Linear> layers) {
  variable_list weights;
  variable_list biases;
  for (const Linear& layer : layers) {
    weights.push_back(for_product(layer.weight));
    if (layer.bias.defined()) biases.push_back(for_product(layer.bias));
  }
  TORCH_CHECK(biases.empty() || biases.size() == weights.size(),
              "layers that are multiplied together all have a bias, or none has");
  return ColumnParallel::apply(for_product(x), at::TensorList(weights), at::TensorList(biases),
                               Kept{*this, tokens});
}

at::Tensor ParallelProducts::row_parallel(const at::Tensor& x, std::int64_t tokens,
                                          const Linear& layer) {
  const at::Tensor summed = Sum::apply(at::linear(x, layer.weight), Kept{*this, tokens});
  return layer.bias.defined() ? summed.add_(for_product(layer.bias)) : summed;
}

}  // namespace headroom
