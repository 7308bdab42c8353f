// SPDX-License-Identifier: Apache-2.0
// What an update allocates and what an optimizer keeps, by the ledger.
#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>

#include "src/memory/device_memory.h"
#include "src/memory/host_memory.h"
#include "src/optimizers/optimizer.h"
#include "tests/optimizers/parameters.h"

namespace headroom {
namespace {

constexpr std::int64_t kSize = 25'000;
constexpr std::int64_t kBytes = 4 * 4 * kSize;         // of all parameters
constexpr std::int64_t kLargestBytes = 4 * 3 * kSize;  // of the larger one
constexpr std::int64_t kScalars = 256;                 // step counters and the like

struct Update {
  std::int64_t state_bytes = 0;
  std::int64_t temporary_bytes = 0;  // the most beyond what was there before, state made already
  std::int64_t peak_bytes = 0;       // weights, gradients and state included
};

OptimizerOptions update_options(const std::string& name, Implementation implementation) {
  OptimizerOptions options;
  options.name = name;
  options.implementation = implementation;
  return options;
}

Update second_update(const OptimizerOptions& options, std::int64_t size = kSize) {
  Ledger ledger;
  const auto memory = watch_memory(at::kCPU, ledger);
  const std::vector<at::Tensor> parameters = constant_parameters(1.0, 0.5, size);
  const auto optimizer = make_device_optimizer(options, parameters);
  const std::int64_t without_state = ledger.current_bytes();
  optimizer->begin_step();
  optimizer->update_all();
  const std::int64_t before = ledger.current_bytes();
  memory->take_peak();
  optimizer->begin_step();
  optimizer->update_all();
  EXPECT_EQ(ledger.current_bytes(), before);
  const std::int64_t peak = memory->take_peak().allocated_bytes;
  return {
      .state_bytes = before - without_state, .temporary_bytes = peak - before, .peak_bytes = peak};
}

void expect_about(std::int64_t bytes, std::int64_t expected) {
  EXPECT_GE(bytes, expected);
  EXPECT_LE(bytes, expected + kScalars);
}

TEST(OptimizerMemoryTest, MultiTensorAdamMakesOneTemporaryOfTheParametersSize) {
  for (const char* name : {"adam", "adamw"}) {
    expect_about(second_update(update_options(name, Implementation::multi_tensor)).temporary_bytes,
                 kBytes);
  }
}

// Weights, gradients, two moments, root and denominator: 24 bytes for each parameter in float32.
// The sum that makes the denominator also has its number on the CPU: 8 bytes, and 4 in float32.
TEST(OptimizerMemoryTest, MultiTensorAdamOfTorch20HoldsTwoTemporariesOfTheParametersSize) {
  for (const char* name : {"adam", "adamw"}) {
    const Update update =
        second_update(update_options(name, Implementation::multi_tensor_torch_2_0));
    EXPECT_EQ(update.peak_bytes, 24 * 4 * kSize + 8 + 4) << name;
  }
  const auto implementation = Implementation::multi_tensor_torch_2_0;
  expect_about(second_update(update_options("sgd", implementation)).temporary_bytes, 0);
}

TEST(OptimizerMemoryTest, FusedMakesNone) {
  for (const char* name : {"adam", "adamw", "sgd"}) {
    expect_about(second_update(update_options(name, Implementation::fused)).temporary_bytes, 0);
  }
}

// Two of the size of the parameter at work: the root, and what it is divided by.
TEST(OptimizerMemoryTest, PerTensorMakesThoseOfOneParameter) {
  const Update adam = second_update(update_options("adam", Implementation::per_tensor));
  expect_about(adam.temporary_bytes, 2 * kLargestBytes);
  expect_about(second_update(update_options("sgd", Implementation::per_tensor)).temporary_bytes, 0);
}

TEST(OptimizerMemoryTest, StateHasTheBytesOfItsFormula) {
  for (const auto implementation :
       {Implementation::per_tensor, Implementation::multi_tensor, Implementation::fused,
        Implementation::multi_tensor_torch_2_0}) {
    expect_about(second_update(update_options("adam", implementation)).state_bytes, 2 * kBytes);
    EXPECT_EQ(second_update(update_options("sgd", implementation)).state_bytes, 0);
    OptimizerOptions momentum = update_options("sgd", implementation);
    momentum.momentum = 0.9;
    EXPECT_EQ(second_update(momentum).state_bytes, kBytes);
  }
}

// The sign of the average: of the parameter at work, or of all. The product that makes it also has
// its number on the CPU. lion-pytorch makes two.
TEST(OptimizerMemoryTest, LionKeepsAMomentumAndMakesOneTemporary) {
  const Update one = second_update(update_options("lion", Implementation::per_tensor));
  EXPECT_EQ(one.state_bytes, kBytes);
  EXPECT_EQ(one.temporary_bytes, kLargestBytes + 8 + 4);
  const Update all = second_update(update_options("lion", Implementation::multi_tensor));
  EXPECT_EQ(all.state_bytes, kBytes);
  EXPECT_EQ(all.temporary_bytes, kBytes + 8 + 4);
}

// The rows and columns of (1, S) and (3, S). At work on the latter: two of its size in Adafactor,
// one in AdaLomo, and the roots of its moments.
TEST(OptimizerMemoryTest, AdafactorAndAdaLomoKeepRowsAndColumns) {
  const Update two = second_update(update_options("adafactor", Implementation::per_tensor));
  const Update one = second_update(update_options("adalomo", Implementation::per_tensor));
  for (const Update& update : {two, one}) {
    EXPECT_EQ(update.state_bytes, 4 * ((1 + kSize) + (3 + kSize)));
  }
  EXPECT_EQ(two.temporary_bytes, 2 * kLargestBytes + 4 * (3 + kSize));
  EXPECT_EQ(one.temporary_bytes, kLargestBytes + 4 * (3 + kSize));
}

// (1, S) is too short to be projected to one dimension, so it has Adam's moments. (3, S) has two of
// (1, S) and a norm. At work on it: the projected gradient, its step, and the norms of both along
// the columns, to one of which a number is added that is also on the CPU. Its scaled gradient and
// the factors, later on, are as much.
TEST(OptimizerMemoryTest, ApolloKeepsMomentsOfAProjection) {
  OptimizerOptions options = update_options("apollo", Implementation::per_tensor);
  options.projection_rank = 1;
  const Update update = second_update(options);
  EXPECT_EQ(update.state_bytes, 4 * (2 * kSize + 2 * kSize + 1));
  EXPECT_EQ(update.temporary_bytes, kLargestBytes + 4 * kSize + 8 + 4);
}

/// A byte of each number and 4 of each 256, twice.
std::int64_t moments_in_8_bits(std::int64_t numbers) {
  return 2 * (numbers + 4 * ((numbers + 255) / 256));
}

// Of many numbers the temporaries are those of 2^20: 4 MiB in float32, of which there are two
// moments, the weights' update and the places of codes.
TEST(OptimizerMemoryTest, Adam8BitKeepsAByteOfEachMoment) {
  constexpr std::int64_t kMaps = 2 * (256 + 255) * 4;
  const OptimizerOptions options = update_options("adam_8bit", Implementation::per_tensor);
  EXPECT_EQ(second_update(options).state_bytes,
            moments_in_8_bits(kSize) + moments_in_8_bits(3 * kSize) + kMaps);
  const std::int64_t many = 40 * kSize;
  const Update large = second_update(options, many);
  EXPECT_EQ(large.state_bytes, moments_in_8_bits(many) + moments_in_8_bits(3 * many) + kMaps);
  EXPECT_LE(large.temporary_bytes, 5 * (4 << 20));
}

TEST(OptimizerMemoryTest, OfFewNumbersAdam8BitKeepsWholeMoments) {
  const OptimizerOptions options = update_options("adam_8bit", Implementation::per_tensor);
  EXPECT_EQ(second_update(options, 1000).state_bytes, 2 * 4 * 4 * 1000);
}

// Two moments of half a byte a number, and 4 bytes of each 128; of both maps what a byte stands for
// and the edges between 16 values.
TEST(OptimizerMemoryTest, Adam4BitKeepsHalfAByteOfEachMoment) {
  constexpr std::int64_t kMaps = 2 * (2 * 256 + 15) * 4;
  constexpr std::int64_t kBlocks = 400;  // of 128 numbers
  const OptimizerOptions options = update_options("adam_4bit", Implementation::per_tensor);
  const auto state_bytes = [](std::int64_t blocks) { return 2 * blocks * (128 / 2 + 4); };
  EXPECT_EQ(second_update(options, 128 * kBlocks).state_bytes,
            state_bytes(kBlocks) + state_bytes(3 * kBlocks) + kMaps);
  const Update large = second_update(options, 20 * 128 * kBlocks);
  EXPECT_EQ(large.state_bytes, state_bytes(20 * kBlocks) + state_bytes(60 * kBlocks) + kMaps);
  EXPECT_LE(large.temporary_bytes, 5 * (4 << 20));
}

// 25,000 and 75,000 are no multiples of 128; 1,024 and 3,072 numbers are too few.
TEST(OptimizerMemoryTest, WhereItHasNoBlocksAdam4BitKeepsWholeMoments) {
  const OptimizerOptions options = update_options("adam_4bit", Implementation::per_tensor);
  EXPECT_EQ(second_update(options, kSize).state_bytes, 2 * kBytes);
  EXPECT_EQ(second_update(options, 1024).state_bytes, 2 * 4 * 4 * 1024);
}

TEST(OptimizerMemoryTest, AHostOptimizerTakesNothingOfTheDevice) {
  Ledger ledger;
  const auto memory = watch_memory(at::kCPU, ledger);
  const std::vector<at::Tensor> parameters = constant_parameters(1.0, 0.5, kSize);
  const std::int64_t pool_before = host_pool_bytes();
  const std::int64_t before = ledger.current_bytes();
  const auto optimizer = make_host_optimizer(update_options("adam", Implementation::multi_tensor),
                                             parameters, PlannedUpdate());
  optimizer->begin_step();
  optimizer->update_all();
  EXPECT_EQ(ledger.current_bytes(), before);
  EXPECT_LE(memory->take_peak().allocated_bytes, before + kScalars);
  EXPECT_TRUE(optimizer->device_state().empty());
  // Two moments, the copy of the parameters, the gradients.
  expect_about(host_pool_bytes() - pool_before, 4 * kBytes);
  EXPECT_EQ(optimizer->copied_bytes(), 2 * kBytes);  // gradients there, parameters back
}

TEST(OptimizerMemoryTest, APlannedHostOptimizerTakesTheSameAndComputesOneUpdate) {
  struct Taken {
    std::int64_t pool_bytes = 0;
    std::int64_t copied_bytes = 0;
    std::ptrdiff_t state_tensors = 0;
    double parameter = 0.0;

    bool operator==(const Taken&) const = default;
  };
  std::int64_t planned_bytes = 0;
  const PlannedUpdate planned = [&](std::int64_t bytes) { planned_bytes += bytes; };
  const auto take = [](const PlannedUpdate& each, const OptimizerOptions& options, int updates) {
    const std::int64_t pool_before = host_pool_bytes();
    const std::vector<at::Tensor> parameters = constant_parameters(1.0, 0.5, kSize);
    const auto optimizer = make_host_optimizer(options, parameters, each);
    for (int update = 0; update < updates; ++update) {
      optimizer->begin_step();
      optimizer->update_all();
    }
    return Taken{host_pool_bytes() - pool_before, optimizer->copied_bytes(),
                 std::ssize(optimizer->host_state()), parameters[0][0][0].item<double>()};
  };
  OptimizerOptions momentum = update_options("sgd", Implementation::multi_tensor);
  momentum.momentum = 0.9;
  for (const auto& options : {update_options("adam", Implementation::multi_tensor), momentum}) {
    const Taken once = take({}, options, 1);
    Taken expected = take({}, options, 3);
    EXPECT_NE(expected.parameter, once.parameter);
    expected.parameter = once.parameter;
    planned_bytes = 0;
    EXPECT_EQ(take(planned, options, 3), expected) << options.name;
    const std::int64_t state_tensors = options.name == "adam" ? 2 : 1;
    EXPECT_EQ(planned_bytes, 3 * kBytes * (3 + 2 * state_tensors)) << options.name;
  }
}

}  // namespace
}  // namespace headroom
