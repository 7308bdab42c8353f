// SPDX-License-Identifier: Apache-2.0
// Adam with moments of 4 bits against AdamW4bit of torchao (tests/golden/make_adam_4bit.py).
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "src/core/fields.h"
#include "src/optimizers/optimizer.h"
#include "tests/optimizers/golden.h"
#include "tests/optimizers/parameters.h"

namespace headroom {
namespace {

const Json& of_torchao() {
  static const Json kReference = golden_values("adam_4bit.json");
  return kReference;
}

std::vector<at::Tensor> numbers_of_4bit(int seed) {
  std::vector<at::Tensor> made;
  for (const Json& shape : of_torchao()["shapes"]) made.push_back(golden_numbers(shape, seed));
  return made;
}

std::vector<at::Tensor> start_of_4bit() {
  std::vector<at::Tensor> parameters = numbers_of_4bit(1);
  for (const at::Tensor& parameter : parameters) parameter.requires_grad_();
  return parameters;
}

std::unique_ptr<Optimizer> make_4bit(Json options, const std::vector<at::Tensor>& parameters) {
  options.update({{"name", "adam_4bit"}, {"implementation", "per_tensor"}});
  OptimizerOptions read;
  read_fields(options, "optimizer", [&](Fields& f) { read.fields(f); });
  return make_device_optimizer(read, parameters);
}

void update_4bit(Optimizer& optimizer, int step) {
  const std::vector<at::Tensor> gradients = numbers_of_4bit(100 + step);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    set_gradient(optimizer.parameters()[i], gradients[i]);
  }
  optimizer.begin_step();
  optimizer.update_all();
}

// Of both maps: what the two numbers of each byte are, upper half first.
TEST(Adam4BitTest, AByteStandsForTheSameTwoNumbers) {
  const auto optimizer = make_4bit(Json::object(), start_of_4bit());
  update_4bit(*optimizer, 0);
  const auto state = optimizer->device_state();
  ASSERT_EQ(state.size(), 4U + 4U + 2U)
      << "two maps with their edges, two moments with their scales, two that are whole";
  std::size_t place = 0;
  for (const char* name : {"signed", "unsigned"}) {
    const at::Tensor values = floats(of_torchao()["maps"][name]);
    for (std::int64_t byte = 0; byte < 256; ++byte) {
      const at::Tensor both = state[place][byte];
      EXPECT_TRUE(at::equal(both[0], values[byte / 16]));
      EXPECT_TRUE(at::equal(both[1], values[byte % 16]));
    }
    place += 2;
  }
}

TEST(Adam4BitTest, AgreesWithTorchao) {
  const auto every = of_torchao()["every"].get<int>();
  for (const Json& entry : of_torchao()["cases"]) {
    SCOPED_TRACE(entry["options"].dump());
    const std::vector<at::Tensor> parameters = start_of_4bit();
    const auto optimizer = make_4bit(entry["options"], parameters);
    int step = 0;
    for (const Json& wanted : entry["parameters"]) {
      update_4bit(*optimizer, step++);
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const at::Tensor seen = parameters[i].detach().flatten().slice(0, 0, std::nullopt, every);
        EXPECT_LE(seen.sub(floats(wanted[i])).abs().max().item<double>(), 1e-6);
      }
    }
    const auto state = optimizer->device_state();
    for (const std::size_t moment : {0U, 1U}) {
      const at::Tensor codes = floats(entry["codes"][moment]).to(at::kByte);
      EXPECT_TRUE(at::equal(state[4 + 2 * moment], codes));
      const at::Tensor scales = floats(entry["scales"][moment]);
      EXPECT_LE(state[4 + 2 * moment + 1].sub(scales).abs().max().item<double>(), 1e-6);
    }
  }
}

// A million numbers are updated at once: what lies behind them is updated as what lies before.
TEST(Adam4BitTest, PiecesOfALargeParameterAreUpdatedAlike) {
  constexpr std::int64_t kCopies = 300;  // of 5120 numbers: one and a half million
  const at::Tensor gradient = numbers_of_4bit(100).front();
  const at::Tensor small = numbers_of_4bit(1).front().clone().requires_grad_();
  const at::Tensor large = numbers_of_4bit(1).front().repeat({kCopies, 1}).requires_grad_();
  for (const at::Tensor& parameter : {small, large}) {
    const auto optimizer = make_4bit({{"lr", 0.01}}, {parameter});
    for (int step = 0; step < 2; ++step) {
      set_gradient(parameter,
                   parameter.size(0) == small.size(0) ? gradient : gradient.repeat({kCopies, 1}));
      optimizer->begin_step();
      optimizer->update_all();
    }
  }
  EXPECT_TRUE(at::equal(large.detach(), small.detach().repeat({kCopies, 1})));
}

}  // namespace
}  // namespace headroom
