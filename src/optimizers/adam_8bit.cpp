// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/optimizers/update_rule.h"

namespace headroom {
namespace {

constexpr std::int64_t kBlock = 256;           // numbers that share a scale
constexpr std::int64_t kBlocksAtOnce = 4096;   // that are updated together: 4 MiB in float32
constexpr std::int64_t kFewestNumbers = 4096;  // of a parameter whose moments are in 8 bits

/// The 256 numbers from -1 or 0 to 1 that a byte stands for, ascending: seven decades, of which
/// each has twice as many as the one below. Source: Dettmers 2015, arXiv:1511.04561.
at::Tensor dynamic_map(bool is_signed) {
  constexpr int kDecades = 7;
  std::vector<at::Tensor> parts{at::tensor({0.0F, 1.0F})};
  for (int decade = 0; decade < kDecades; ++decade) {
    const std::int64_t bounds = (std::int64_t{1} << (decade + (is_signed ? 0 : 1))) + 1;
    const at::Tensor bound = at::linspace(0.1, 1.0, bounds, at::kFloat);
    const at::Tensor mean = (bound.slice(0, 0, -1) + bound.slice(0, 1)) / 2.0;
    parts.push_back(mean * std::pow(10.0, decade - kDecades + 1));
    if (is_signed) parts.push_back(-parts.back());
  }
  return std::get<0>(at::cat(parts).sort());
}

/// A moment in 8 bits, in blocks of which each has a scale, the largest of its numbers.
class BlockMap {
 public:
  BlockMap(bool is_signed, const at::Tensor& like, const StateFactory& make_state) {
    const at::Tensor values = dynamic_map(is_signed);
    const auto keep = [&](const at::Tensor& numbers) {
      const at::Tensor kept = make_state(like.new_empty({1}, at::kFloat).expand(numbers.sizes()));
      kept.copy_(numbers);
      return kept;
    };
    values_ = keep(values);
    edges_ = keep((values.slice(0, 0, -1) + values.slice(0, 1)) / 2.0);
  }

  /// `codes` (blocks, kBlock or fewer) of uint8, `scales` (blocks): the numbers in float32.
  at::Tensor widened(const at::Tensor& codes, const at::Tensor& scales) const {
    const at::Tensor places = codes.reshape({-1}).to(at::kInt);
    return values_.index_select(0, places).reshape(codes.sizes()).mul_(scales.unsqueeze(1));
  }
  void narrow(const at::Tensor& numbers, at::Tensor codes, at::Tensor scales) const {
    scales.copy_(numbers.abs().amax(1));
    scales.masked_fill_(scales == 0.0, 1.0);
    codes.copy_(at::searchsorted(edges_, numbers / scales.unsqueeze(1), /*out_int32=*/true));
  }
  std::vector<at::Tensor> tensors() const { return {values_, edges_}; }

 private:
  at::Tensor values_;  // (256)
  at::Tensor edges_;   // (255), halfway between two values
};

/// Adam whose moments have 8 bits each: a byte of the parameter's shape and a float32 for each
/// block, twice, 2 P + 8 P / 256 bytes; of a parameter with fewer than 4096 numbers they are whole,
/// 8 P. Weight decay is decoupled. Besides, two maps: 2 * (256 + 255) * 4 bytes.
/// Source: Dettmers et al. 2022, arXiv:2110.02861; bitsandbytes 0.50, whose order of operations
/// this has. Its kernel has no temporaries; these are of 4096 blocks at most, whatever P is.
class Adam8Bit final : public UpdateRule {
 public:
  Adam8Bit(const OptimizerOptions& options, StateFactory make_state)
      : options_(options), make_state_(std::move(make_state)) {}
  void apply(const UpdateTensors& tensors, const UpdateStep& step) override;
  std::vector<at::Tensor> counters() const override;

 private:
  void update(at::Tensor weights, const at::Tensor& gradient, at::Tensor first, at::Tensor second,
              const UpdateStep& step) const;
  void update_in_blocks(const UpdateTensors& tensors, std::size_t index, const UpdateStep& step);

  OptimizerOptions options_;
  StateFactory make_state_;
  std::vector<BlockMap> maps_;  // of the first moment, and of the second
};

bool has_8_bits(const at::Tensor& parameter) { return parameter.numel() >= kFewestNumbers; }

/// All of one shape, in float32.
void Adam8Bit::update(at::Tensor weights, const at::Tensor& gradient, at::Tensor first,
                      at::Tensor second, const UpdateStep& step) const {
  const double correction1 = 1.0 - std::pow(options_.beta1, step.number);
  const double correction2 = std::sqrt(1.0 - std::pow(options_.beta2, step.number));
  first.mul_(options_.beta1).add_(gradient, 1.0 - options_.beta1);
  second.mul_(options_.beta2).addcmul_(gradient, gradient, 1.0 - options_.beta2);
  const at::Tensor denominator = second.sqrt().div_(correction2).add_(options_.eps);
  if (options_.weight_decay != 0.0) weights.mul_(1.0 - step.lr * options_.weight_decay);
  weights.addcdiv_(first, denominator, -step.lr / correction1);
}

void Adam8Bit::update_in_blocks(const UpdateTensors& tensors, std::size_t index,
                                const UpdateStep& step) {
  const at::Tensor parameter = tensors.parameters[index].view({-1});
  const at::Tensor gradient = tensors.gradients[index].reshape({-1});
  const std::int64_t whole = parameter.numel() / kBlock;
  for (std::int64_t block = 0; block * kBlock < parameter.numel();) {
    // The last block may be shorter: it comes by itself.
    const std::int64_t blocks =
        block < whole ? std::min(kBlocksAtOnce, whole - block) : std::int64_t{1};
    const std::int64_t width = block < whole ? kBlock : parameter.numel() - whole * kBlock;
    const auto piece = [&](const at::Tensor& flat) {
      return flat.narrow(0, block * kBlock, blocks * width).view({blocks, width});
    };
    const auto codes = [&](std::size_t k) { return piece(tensors.state[k][index].view({-1})); };
    const auto scales = [&](std::size_t k) {
      return tensors.state[k][index].narrow(0, block, blocks);
    };
    const at::Tensor first = maps_[0].widened(codes(0), scales(1));
    const at::Tensor second = maps_[1].widened(codes(2), scales(3));
    const at::Tensor weights = piece(parameter).to(at::kFloat);
    update(weights, piece(gradient).to(at::kFloat), first, second, step);
    piece(parameter).copy_(weights);
    maps_[0].narrow(first, codes(0), scales(1));
    maps_[1].narrow(second, codes(2), scales(3));
    block += blocks;
  }
}

void Adam8Bit::apply(const UpdateTensors& tensors, const UpdateStep& step) {
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    at::Tensor parameter = tensors.parameters[i];
    if (has_8_bits(parameter)) {
      if (maps_.empty()) {
        maps_.emplace_back(/*is_signed=*/true, parameter, make_state_);
        maps_.emplace_back(/*is_signed=*/false, parameter, make_state_);
      }
      update_in_blocks(tensors, i, step);
      continue;
    }
    const at::Tensor weights = parameter.to(at::kFloat);
    update(weights, tensors.gradients[i].to(at::kFloat), tensors.state[0][i], tensors.state[1][i],
           step);
    parameter.copy_(weights);
  }
}

std::vector<at::Tensor> Adam8Bit::counters() const {
  std::vector<at::Tensor> all;
  for (const BlockMap& map : maps_) {
    for (const at::Tensor& tensor : map.tensors()) all.push_back(tensor);
  }
  return all;
}

std::unique_ptr<UpdateRule> make_adam_8bit(const OptimizerOptions& options,
                                           StateFactory make_state) {
  return std::make_unique<Adam8Bit>(options, std::move(make_state));
}

std::vector<StateTensor> moments_in_8_bits(const OptimizerOptions&, const at::Tensor& parameter) {
  const std::vector<std::int64_t> shape = parameter.sizes().vec();
  if (!has_8_bits(parameter)) return {2, {shape, at::kFloat}};
  const std::vector<std::int64_t> scales{(parameter.numel() + kBlock - 1) / kBlock};
  return {{shape, at::kByte}, {scales, at::kFloat}, {shape, at::kByte}, {scales, at::kFloat}};
}

constexpr Implementation kAdam8BitImplementations[] = {Implementation::per_tensor};

}  // namespace

extern constinit const OptimizerEntry kAdam8Bit{
    .name = "adam_8bit",
    .summary = "Adam with moments of 8 bits, in blocks; weight decay shrinks the weights",
    .implementations = kAdam8BitImplementations,
    .make = &make_adam_8bit,
    .state = &moments_in_8_bits,
    .works_on_parts = false,
};

}  // namespace headroom
