// SPDX-License-Identifier: Apache-2.0
// What launches move and compute, on a GPU whose rates are round numbers.
#include "src/dry_run/launch_work.h"

#include <gtest/gtest.h>

#include <array>

namespace headroom::dry_run {
namespace {

using Kind = KernelForm::Kind;

const char* tensor_at(std::uintptr_t address) { return reinterpret_cast<const char*>(address); }

class LaunchWork : public testing::Test {
 protected:
  LaunchWork() {
    gpu_.memory_bytes_per_second = 1e12 / 0.84;  // a byte takes a picosecond
    gpu_.products.start_ns = 0;
  }
  std::int64_t memory_ns(const KernelForm& form, std::vector<void*> arguments, dim3 grid = 1,
                         dim3 block = 1) const {
    const Work work = launch_work(gpu_, form, {grid, block, arguments.data()}, blocks_);
    return work.ns[static_cast<std::size_t>(WorkKind::memory)] - kStartNs;
  }
  std::int64_t attention_ns(const KernelForm& form, dim3 grid, void* argument) const {
    const Work work = launch_work(gpu_, form, {grid, 128, &argument}, blocks_);
    return work.ns[static_cast<std::size_t>(WorkKind::attention)];
  }

  static constexpr std::int64_t kStartNs = 2000;
  Gpu gpu_ = *find_gpu("a100-80gb");
  LiveBlocks blocks_;
};

TEST_F(LaunchWork, OfElementsIsTheirTensors) {
  blocks_.note(tensor_at(0x100000), 2'000'384);  // of 16 bits, rounded up
  blocks_.note(tensor_at(0x900000), 4'000'256);  // of 32
  int count = 1'000'000;
  int functor = 0;
  std::array<const char*, 2> data{tensor_at(0x100000), tensor_at(0x900000)};
  const KernelForm form{.kind = Kind::elementwise, .tensors = 2, .has_pointers = true, .width = 2};
  EXPECT_EQ(memory_ns(form, {&count, &functor, data.data()}), 6000);
  // In the midst of something larger their width is the kernel's.
  blocks_.note(tensor_at(0x900000), 40'000'000);
  EXPECT_EQ(memory_ns(form, {&count, &functor, data.data()}), 4000);
  const KernelForm strided{.kind = Kind::elementwise, .tensors = 3, .width = 4};
  EXPECT_EQ(memory_ns(strided, {&count}), 12'000);
}

TEST_F(LaunchWork, OfListsIsTheirChunks) {
  const KernelForm form{.kind = Kind::chunks, .tensors = 4, .width = 2};
  EXPECT_EQ(memory_ns(form, {}, dim3(100)), 65536 * 100 * 8 / 1000);
}

TEST_F(LaunchWork, OfAReductionIsWhatItReads) {
  std::array<int, 8> operation{0, 0, 2, 5000, 300};  // {..., bytes of an element, inputs, outputs}
  EXPECT_EQ(memory_ns({.kind = Kind::reduction}, {operation.data()}), 3000);
}

TEST_F(LaunchWork, OfAnotherKernelIsWhatItPointsTo) {
  blocks_.note(tensor_at(0x100000), 3'000'000);
  const void* one = tensor_at(0x100000);
  const void* other = tensor_at(0x500000);  // nobody knows of it
  const KernelForm form{.kind = Kind::pointers, .pointers = {0, 1}};
  EXPECT_EQ(memory_ns(form, {&one, &other}, dim3(1000), dim3(128)), 3000);
  EXPECT_EQ(memory_ns(form, {&one, &other}, dim3(100), dim3(128)), 128 * 12'800 / 1000)
      << "a thread reads no more than so much";
  EXPECT_EQ(memory_ns({}, {}, dim3(1000), dim3(1000)), 48'000);
}

TEST_F(LaunchWork, OfAttentionIsItsProducts) {
  const double rate = gpu_.products.share * 312e12;
  const KernelForm form{
      .kind = Kind::flash_forward, .head = 64, .rows = 128, .precision = Precision::bfloat16};
  const double forward = 4.0 * 6 * 1024 * 1024 * 64;  // 6 heads, 8 blocks of queries
  EXPECT_NEAR(attention_ns(form, dim3(8, 2, 3), nullptr), forward / (0.7 * rate) * 1e9, 2);
  KernelForm causal = form;
  causal.is_causal = true;
  EXPECT_NEAR(attention_ns(causal, dim3(8, 2, 3), nullptr), forward / (0.7 * rate) * 1e9 * 9 / 16,
              2);
  // Queries are counted by the logarithms of their sums.
  blocks_.note(tensor_at(0x100000), 4 * 1024 * 6);
  std::array<const void*, 5> parameters{nullptr, nullptr, nullptr, nullptr, tensor_at(0x100000)};
  const KernelForm backward{
      .kind = Kind::efficient_backward, .head = 64, .rows = 64, .precision = Precision::bfloat16};
  EXPECT_NEAR(attention_ns(backward, dim3(1, 2, 3), parameters.data()),
              2.5 * forward / (0.34 * rate) * 1e9, 20);
}

TEST(ProductWork, OfFloat8RunsAtOneAndAHalfTimesTheRateOf16Bits) {
  const Gpu& gpu = *find_gpu("h100");
  const auto ns = [&](cudaDataType type) {
    const Precision precision = product_precision(type, /*tensor_cores=*/true);
    return product_work(gpu, {1'000'000'000'000'000, precision}).all_ns() - gpu.products.start_ns;
  };
  const auto of_16_bits = static_cast<double>(ns(CUDA_R_16BF));
  EXPECT_NEAR(of_16_bits / static_cast<double>(ns(CUDA_R_8F_E4M3)), 1.5, 1e-6);
  EXPECT_NEAR(of_16_bits / static_cast<double>(ns(CUDA_R_8F_E5M2)), 1.5, 1e-6);
}

}  // namespace
}  // namespace headroom::dry_run
