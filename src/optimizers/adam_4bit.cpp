// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/linspace.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "src/optimizers/block_moments.h"
#include "src/optimizers/update_rule.h"

namespace headroom {
namespace {

constexpr std::int64_t kBlockOf4Bits = 128;  // numbers that share a scale
constexpr CodeFormat k4Bits{.two_in_a_byte = true, .ties_go_up = true, .least_scale = 1e-12};

/// Adam whose moments have 4 bits each: two numbers a byte and a float32 for each block, twice,
/// P + 8 P / 128 bytes. Of a parameter with fewer than 4096 numbers, or with a number of them that
/// is no multiple of 128, they are whole, 2 P * dtype. The first moment has the dynamic map, the
/// second 1/16, 2/16 ... 1, without 0. Weight decay is decoupled. Besides, of both maps what each
/// byte stands for and the edges: 2 * (2 * 256 + 15) * 4 bytes.
/// Source: Li et al. 2023, arXiv:2309.01507; the layout and the order of operations are those of
/// AdamW4bit in torchao 0.17, which compiles them to one kernel; the temporaries here are of a
/// million numbers at most, whatever P is.
class Adam4Bit final : public UpdateRule {
 public:
  Adam4Bit(const OptimizerOptions& options, StateFactory make_state)
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

bool has_4_bits(const at::Tensor& parameter) {
  return parameter.numel() >= kFewestInBlocks && parameter.numel() % kBlockOf4Bits == 0;
}

/// All of one shape, in float32.
void Adam4Bit::update(at::Tensor weights, const at::Tensor& gradient, at::Tensor first,
                      at::Tensor second, const UpdateStep& step) const {
  const double correction1 = 1.0 - std::pow(options_.beta1, step.number);
  const double correction2 = std::sqrt(1.0 - std::pow(options_.beta2, step.number));
  if (options_.weight_decay != 0.0) weights.mul_(1.0 - step.lr * options_.weight_decay);
  first.lerp_(gradient, 1.0 - options_.beta1);
  second.lerp_(gradient.square(), 1.0 - options_.beta2);
  const at::Tensor denominator = second.sqrt().div_(correction2).add_(options_.eps);
  weights.addcdiv_(first, denominator, -step.lr / correction1);
}

void Adam4Bit::update_whole(const UpdateTensors& tensors, std::size_t index,
                            const UpdateStep& step) const {
  at::Tensor parameter = tensors.parameters[index];
  at::Tensor first = tensors.state[0][index];
  at::Tensor second = tensors.state[1][index];
  const at::Tensor weights = parameter.to(at::kFloat);  // each itself, where it is float32
  const at::Tensor wide_first = first.to(at::kFloat);
  const at::Tensor wide_second = second.to(at::kFloat);
  update(weights, tensors.gradients[index].to(at::kFloat), wide_first, wide_second, step);
  parameter.copy_(weights);
  first.copy_(wide_first);
  second.copy_(wide_second);
}

void Adam4Bit::apply(const UpdateTensors& tensors, const UpdateStep& step) {
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i) {
    const at::Tensor& parameter = tensors.parameters[i];
    if (!has_4_bits(parameter)) {
      update_whole(tensors, i, step);
      continue;
    }
    if (!moments_) {
      const at::Tensor dynamic = dynamic_map(/*is_signed=*/true, /*decades=*/3);
      const at::Tensor linear = at::linspace(0.0, 1.0, 17, at::kFloat).slice(0, 1);
      moments_.emplace(kBlockOf4Bits, k4Bits, std::array{dynamic, linear}, parameter, make_state_);
    }
    moments_->update(tensors, i, [&](auto weights, const auto& gradient, auto first, auto second) {
      update(weights, gradient, first, second, step);
    });
  }
}

std::unique_ptr<UpdateRule> make_adam_4bit(const OptimizerOptions& options,
                                           StateFactory make_state) {
  return std::make_unique<Adam4Bit>(options, std::move(make_state));
}

std::vector<StateTensor> moments_in_4_bits(const OptimizerOptions&, const at::Tensor& parameter) {
  if (!has_4_bits(parameter)) return {2, {parameter.sizes().vec(), parameter.scalar_type()}};
  const StateTensor codes{{parameter.numel() / 2}, at::kByte};
  const StateTensor scales{{parameter.numel() / kBlockOf4Bits}, at::kFloat};
  return {codes, scales, codes, scales};
}

constexpr Implementation kAdam4BitImplementations[] = {Implementation::per_tensor};

}  // namespace

extern constinit const OptimizerEntry kAdam4Bit{
    .name = "adam_4bit",
    .summary = "Adam with moments of 4 bits, in blocks; weight decay shrinks the weights",
    .implementations = kAdam4BitImplementations,
    .make = &make_adam_4bit,
    .state = &moments_in_4_bits,
    .works_on_parts = false,
};

}  // namespace headroom
