// SPDX-License-Identifier: Apache-2.0
// Adam with moments of 8 bits against the reference in bitsandbytes
// (tests/golden/make_adam_8bit.py).
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "src/core/fields.h"
#include "src/optimizers/optimizer.h"
#include "tests/optimizers/golden.h"
#include "tests/optimizers/parameters.h"

namespace headroom {
namespace {

const Json& of_bitsandbytes() {
  static const Json kReference = golden_values("adam_8bit.json");
  return kReference;
}

at::Tensor numbers_of_8bit(int seed) { return golden_numbers(of_bitsandbytes()["shape"], seed); }

std::unique_ptr<Optimizer> make_8bit(Json options, const at::Tensor& parameter) {
  options.update({{"name", "adam_8bit"}, {"implementation", "per_tensor"}});
  OptimizerOptions read;
  read_fields(options, "optimizer", [&](Fields& f) { read.fields(f); });
  return make_device_optimizer(read, {parameter});
}

TEST(Adam8BitTest, AByteStandsForTheSameNumbers) {
  const at::Tensor parameter = numbers_of_8bit(1).requires_grad_();
  set_gradient(parameter, numbers_of_8bit(100));
  const auto optimizer = make_8bit(Json::object(), parameter);
  optimizer->begin_step();
  optimizer->update_all();
  const auto state = optimizer->device_state();
  ASSERT_EQ(state.size(), 4U + 4U) << "two maps with their edges, two moments with their scales";
  EXPECT_TRUE(at::equal(state[0], floats(of_bitsandbytes()["maps"]["signed"])));
  EXPECT_TRUE(at::equal(state[2], floats(of_bitsandbytes()["maps"]["unsigned"])));
}

TEST(Adam8BitTest, AgreesWithBitsandbytes) {
  for (const Json& entry : of_bitsandbytes()["cases"]) {
    SCOPED_TRACE(entry["options"].dump());
    const at::Tensor parameter = numbers_of_8bit(1).requires_grad_();
    const auto optimizer = make_8bit(entry["options"], parameter);
    int seed = 100;
    for (const Json& wanted : entry["parameters"]) {
      set_gradient(parameter, numbers_of_8bit(seed++));
      optimizer->begin_step();
      optimizer->update_all();
      const at::Tensor seen = parameter.detach().flatten().slice(
          0, 0, std::nullopt, of_bitsandbytes()["every"].get<int>());
      EXPECT_LE(seen.sub(floats(wanted)).abs().max().item<double>(), 1e-6);
    }
    const auto state = optimizer->device_state();
    for (const std::size_t moment : {0U, 1U}) {
      const at::Tensor wanted = floats(entry["scales"][moment]);
      EXPECT_LE(state[4 + 2 * moment + 1].sub(wanted).abs().max().item<double>(), 1e-6);
    }
  }
}

// What 256 codes in place of 2^24 numbers cost: the same direction, step by step.
TEST(Adam8BitTest, StaysNearAdam) {
  const at::Tensor parameter = numbers_of_8bit(1).requires_grad_();
  const at::Tensor whole = numbers_of_8bit(1).requires_grad_();
  const auto optimizer = make_8bit({{"lr", 0.01}}, parameter);
  OptimizerOptions adam;
  adam.lr = 0.01;
  const auto control = make_device_optimizer(adam, {whole});
  for (int step = 0; step < 5; ++step) {
    for (const auto& [tensor, update] :
         {std::pair{parameter, optimizer.get()}, {whole, control.get()}}) {
      set_gradient(tensor, numbers_of_8bit(100 + step));
      update->begin_step();
      update->update_all();
    }
  }
  const at::Tensor moved = whole.detach().sub(numbers_of_8bit(1));
  const at::Tensor differs = parameter.detach().sub(whole.detach());
  EXPECT_GT(differs.abs().max().item<double>(), 0.0);
  EXPECT_LE(differs.norm().item<double>(), 0.1 * moved.norm().item<double>());
}

}  // namespace
}  // namespace headroom
