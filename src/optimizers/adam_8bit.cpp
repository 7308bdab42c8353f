// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "src/optimizers/block_moments.h"
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
  std::vector<at::Tensor> counters() const override {
    return moments_ ? moments_->tensors() : std::vector<at::Tensor>{};
  }

 private:
  void update(at::Tensor weights, const at::Tensor& gradient, at::Tensor first, at::Tensor second,
              const UpdateStep& step) const;
  void update_whole(const UpdateTensors& tensors, std::size_t index, const UpdateStep& step) const;

  OptimizerOptions options_;
  StateFactory make_state_;
  std::optional<BlockMoments> moments_;  // from the first update in blocks on
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

void Adam8Bit::update_whole(const UpdateTensors& tensors, std::size_t index,
                            const UpdateStep& step) const {
  at::Tensor parameter = tensors.parameters[index];
  const at::Tensor weights = parameter.to(at::kFloat);
  update(weights, tensors.gradients[index].to(at::kFloat), tensors.state[0][index],
         tensors.state[1][index], step);
  parameter.copy_(weights);
}

void Adam8Bit::apply(const UpdateTensors& tensors, const UpdateStep& step) {
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    const at::Tensor& parameter = tensors.parameters[i];
    if (!has_8_bits(parameter)) {
      update_whole(tensors, i, step);
      continue;
    }
    if (!moments_) {
      const auto map = [](bool is_signed) { return dynamic_map(is_signed, /*decades=*/7); };
      moments_.emplace(kBlockOf8Bits, CodeFormat{}, std::array{map(true), map(false)}, parameter,
                       make_state_);
    }
    moments_->update(tensors, i, [&](auto weights, const auto& gradient, auto first, auto second) {
      update(weights, gradient, first, second, step);
    });
  }
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
