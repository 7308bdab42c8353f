// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <cmath>
#include <utility>

#include "src/optimizers/block_map.h"
#include "src/optimizers/update_rule.h"

namespace headroom {
namespace {

constexpr std::int64_t kBlockOf8Bits = 256;  // numbers that share a scale

/// Adam whose moments have 8 bits each: a byte of the parameter's shape and a float32 for each
/// block, twice, 2 P + 8 P / 256 bytes; of a parameter with fewer than 4096 numbers they are whole,
/// 8 P. Weight decay is decoupled. Besides, two maps: 2 * (256 + 255) * 4 bytes.
/// Source: Dettmers et al. 2022, arXiv:2110.02861; bitsandbytes 0.50, whose order of operations
/// this has. Its kernel has no temporaries; these are of a million numbers at most, whatever P is.
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

bool has_8_bits(const at::Tensor& parameter) { return parameter.numel() >= kFewestInBlocks; }

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
  for_blocks(parameter.numel(), kBlockOf8Bits, [&](auto block, auto blocks, auto width) {
    const auto piece = [&](const at::Tensor& flat) {
      return flat.narrow(0, block * kBlockOf8Bits, blocks * width).view({blocks, width});
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
  });
}

void Adam8Bit::apply(const UpdateTensors& tensors, const UpdateStep& step) {
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    at::Tensor parameter = tensors.parameters[i];
    if (has_8_bits(parameter)) {
      if (maps_.empty()) {
        for (const bool is_signed : {true, false}) {
          maps_.emplace_back(dynamic_map(is_signed, /*decades=*/7), CodeFormat{}, parameter,
                             make_state_);
        }
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
  const std::vector<std::int64_t> scales{(parameter.numel() + kBlockOf8Bits - 1) / kBlockOf8Bits};
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
