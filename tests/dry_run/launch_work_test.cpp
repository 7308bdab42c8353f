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
    // Number by number a byte takes a picosecond, by 50 x 2,048 threads and cycles of 0.4 ns.
    gpu_.multiprocessors = 50;
    gpu_.float32_flops = 2 * 64 * 50 * 1e12 / (3.9e-3 * 50 * 2048);
    gpu_.memory_bytes_per_second = 4e12;
    gpu_.products.start_ns = 0;
  }
  std::int64_t memory_ns(const KernelForm& form, std::vector<void*> arguments, dim3 grid = 1,
                         dim3 block = 1) const {
    const Work work = launch_work(gpu_, form, {grid, block, arguments.data()}, blocks_);
    return work.ns[static_cast<std::size_t>(WorkKind::memory)] - kStartNs;
  }

  /// Of an elementwise kernel by strides, of one tensor, whose argument says nothing of it.
  std::int64_t strided_ns(const KernelForm& form, int count) {
    std::vector<char> function(1000);
    return memory_ns(form, {&count, function.data()});
  }

  /// Bytes a second: 16.5 a cycle and multiprocessor.
  double taken_bytes() const { return 16.5 * 50 * clock_rate(gpu_); }

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
  EXPECT_EQ(strided_ns({.kind = Kind::elementwise, .tensors = 3, .width = 4}, count), 12'000);
}

// PyTorch goes through a tensor of more than 2 GiB by several launches.
TEST_F(LaunchWork, OfAPartOfALargeTensorIsThatPart) {
  blocks_.note(tensor_at(0x100000), 3'200'000'000);  // 1.6 10^9 numbers of 16 bits
  int count = 800'000'000;
  int functor = 0;
  std::array<const char*, 1> data{tensor_at(0x100000)};
  const KernelForm form{.kind = Kind::elementwise, .tensors = 1, .has_pointers = true, .width = 2};
  EXPECT_EQ(memory_ns(form, {&count, &functor, data.data()}), 1'600'000);
}

// That is by where its last number begins, so that 2^29 numbers of 4 bytes go in one.
TEST_F(LaunchWork, OfExactlyAsManyBytesIsAllOfThem) {
  constexpr std::int64_t kMany = std::int64_t{1} << 29;
  blocks_.note(tensor_at(0x100000), 4 * kMany);
  int count = kMany;
  int functor = 0;
  std::array<const char*, 1> data{tensor_at(0x100000)};
  const KernelForm form{.kind = Kind::elementwise, .tensors = 1, .has_pointers = true, .width = 4};
  EXPECT_EQ(memory_ns(form, {&count, &functor, data.data()}), 4 * kMany / 1000);
}

/// What an elementwise_kernel is called with: {dimensions, {size, two numbers}[25], strides[25][of
/// tensors], addresses}, of 1,000 rows of 2,000 numbers.
struct Strided {
  std::uint32_t dimensions = 2;
  std::array<std::array<std::uint32_t, 3>, 25> sizes{{{2000}, {1000}}};
  std::array<std::array<std::uint32_t, 3>, 25> strides;
  std::array<const char*, 3> addresses{tensor_at(0x1000000), tensor_at(0x2000000),
                                       tensor_at(0x3000000)};
};

TEST_F(LaunchWork, OfANumberThatManyAskForIsThatNumberOnce) {
  for (const char* address : Strided{}.addresses) blocks_.note(address, 16'000'000);
  int count = 2'000'000;
  const KernelForm form{.kind = Kind::elementwise, .tensors = 3, .width = 4};
  // {written, read, read}: numbers of 4 bytes, of 2, and a row of 2,000 for all rows.
  Strided strided{.strides = {{{4, 2, 4}, {8000, 4000, 0}}}};
  EXPECT_EQ(memory_ns(form, {&count, &strided}), 3 * 8000) << "threads ask for 3 numbers each";
  gpu_.memory_bytes_per_second = 5e11;
  EXPECT_NEAR(memory_ns(form, {&count, &strided}), (8e6 + 4e6 + 8e3) / (0.9 * 500), 2);
  // Of numbers that are further apart sectors are read.
  strided.strides = {{{4, 256, 4}, {8000, 512'000, 0}}};
  EXPECT_NEAR(memory_ns(form, {&count, &strided}), (8e6 + 64e6 + 8e3) / (0.9 * 500), 2);
  // None of an address that nobody knows of.
  strided.addresses[2] = nullptr;
  EXPECT_NEAR(memory_ns(form, {&count, &strided}), 24e6 / (0.9 * 500), 2);
}

TEST_F(LaunchWork, OfNumbersOf4BytesIsWhatMultiprocessorsTakeIn) {
  for (const char* address : Strided{}.addresses) blocks_.note(address, 16'000'000);
  int count = 2'000'000;
  const KernelForm form{
      .kind = Kind::elementwise, .tensors = 3, .width = 4, .access = Access::numbers};
  Strided strided{.strides = {{{4, 4, 4}, {8000, 8000, 0}}}};
  EXPECT_NEAR(memory_ns(form, {&count, &strided}), 24e15 / taken_bytes(), 2);
  gpu_.memory_bytes_per_second = 5e11;
  EXPECT_NEAR(memory_ns(form, {&count, &strided}), (8e6 + 8e6 + 8e3) / (0.9 * 500), 2);
}

TEST_F(LaunchWork, OfListsIsTheirChunks) {
  const KernelForm form{.kind = Kind::chunks, .tensors = 4, .width = 2};
  EXPECT_EQ(memory_ns(form, {}, dim3(100)), 65536 * 100 * 8 / 1000);
}

TEST_F(LaunchWork, OfListsThatFillALaunchComesFromMemory) {
  gpu_.memory_bytes_per_second = 1e12;
  gpu_.l2_bytes = 96 * 1024 * 1024;
  const KernelForm form{.kind = Kind::chunks, .tensors = 2, .width = 2, .access = Access::vectors};
  const double chunk = 65536 * 4;
  EXPECT_NEAR(memory_ns(form, {}, dim3(319)), 319 * chunk * 1e9 / taken_bytes(), 1);
  EXPECT_NEAR(memory_ns(form, {}, dim3(320)), 320 * chunk * 1e9 / (0.92 * 1e12), 1);
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

TEST_F(LaunchWork, OfWholeRowsIsAllThatItPointsToHoweverFewItsThreadsAre) {
  blocks_.note(tensor_at(0x100000), 62'000'000);
  const void* one = tensor_at(0x100000);
  const KernelForm form{.kind = Kind::whole, .pointers = {0, 0}};
  EXPECT_EQ(memory_ns(form, {&one}, dim3(1000)), 124'000);
  // Each of 6 blocks moves 23 bytes a cycle, of whatever the memory has.
  const double moved = 124e6 / (23 * 6 * clock_rate(gpu_)) * 1e9;
  EXPECT_NEAR(memory_ns(form, {&one}, dim3(6)), moved, 2);
  gpu_.memory_bytes_per_second /= 2;
  EXPECT_NEAR(memory_ns(form, {&one}, dim3(6)), moved, 2);
}

TEST_F(LaunchWork, OfRowsThatAreLookedUpIsNoMoreOfTheirTableThanIsWritten) {
  blocks_.note(tensor_at(0x100000), 3'680'000);
  blocks_.note(tensor_at(0x8000000), 900'000'000);
  const void* output = tensor_at(0x100000);
  const void* table = tensor_at(0x8000000);
  const KernelForm form{.kind = Kind::gather, .access = Access::vectors, .pointers = {0, 1}};
  EXPECT_EQ(memory_ns(form, {&output, &table}), 2 * 3'680 / (4 * 0.92));
}

// At once run 2 blocks of 1,024 threads on each multiprocessor, 100 in all, a row each.
TEST_F(LaunchWork, OfRowsGoneThroughAgainIsThatTooWhereTheCacheHasNoRoomForAllAtOnce) {
  blocks_.note(tensor_at(0x100000), 31'000'000);
  blocks_.note(tensor_at(0x8000000), 31'000'000);
  const void* written = tensor_at(0x100000);
  const void* read = tensor_at(0x8000000);
  const KernelForm form{.kind = Kind::whole, .pointers = {0, 1}, .again = {1, 1}};
  gpu_.l2_bytes = 62'000 * 100;
  EXPECT_EQ(memory_ns(form, {&written, &read}, dim3(1000), dim3(1024)), 2 * 31'000);
  gpu_.l2_bytes -= 1;
  EXPECT_EQ(memory_ns(form, {&written, &read}, dim3(1000), dim3(1024)), 4 * 31'000);
  EXPECT_EQ(memory_ns(form, {&written, &read}, dim3(1000), dim3(2048)), 2 * 31'000);
}

// As many threads as the GPU holds go through tensors of any size.
TEST_F(LaunchWork, OfDropoutIsItsTensorsOrTheInstructionsThatDrawThem) {
  blocks_.note(tensor_at(0x1000000), 2'000'000);  // of 16 bits
  blocks_.note(tensor_at(0x2000000), 2'000'000);
  blocks_.note(tensor_at(0x3000000), 1'000'000);  // its mask
  const void* input = tensor_at(0x1000000);
  const void* output = tensor_at(0x2000000);
  const void* mask = tensor_at(0x3000000);
  const KernelForm dropout{
      .kind = Kind::dropout, .width = 2, .access = Access::numbers, .pointers = {0, 1, 2}};
  const auto work = [&] {
    std::vector<void*> arguments{&input, &output, &mask};
    return launch_work(gpu_, dropout, {1, 1, arguments.data()}, blocks_);
  };
  const double instructions = 50 * 1e6 / 32 / (4 * 50 * clock_rate(gpu_)) * 1e9;
  EXPECT_NEAR(static_cast<double>(work().all_ns() - kStartNs), instructions, 2);
  gpu_.memory_bytes_per_second = 4e11;
  EXPECT_NEAR(static_cast<double>(work().all_ns() - kStartNs), 5e6 / (0.9 * 400), 2);
  int count = 1'000'000;
  EXPECT_NEAR(memory_ns({.kind = Kind::random, .access = Access::numbers}, {&count}),
              4e6 / (0.9 * 400), 2);
}

TEST_F(LaunchWork, OfBatchNormalizationIsItsPassesByAsManyBlocksAsThereAreChannels) {
  blocks_.note(tensor_at(0x100000), 70'000'000);
  const void* one = tensor_at(0x100000);
  const KernelForm statistics{.kind = Kind::batch_norm, .tensors = 2, .width = 2};
  EXPECT_NEAR(memory_ns(statistics, {&one}, dim3(50)), 2 * 35e6 / (4.4 * 50), 2);
  const KernelForm form{.kind = Kind::batch_norm, .tensors = 5, .width = 2};
  const double all = 5 * 35e6 / (3.7 * 50);
  EXPECT_NEAR(memory_ns(form, {&one}, dim3(50)), all, 2);
  EXPECT_NEAR(memory_ns(form, {&one}, dim3(25)), 2 * all, 2);
  gpu_.memory_bytes_per_second = 4e11;  // of which the passes take more
  EXPECT_NEAR(memory_ns(form, {&one}, dim3(50)), 5 * 70e6 / (0.9 * 400), 2);
}

TEST_F(LaunchWork, OfNumbersIsByThreadsAndOfVectorsByTheMemory) {
  int count = 25'000'000;
  KernelForm form{.kind = Kind::elementwise, .tensors = 1};
  const auto ns = [&](Access access) {
    form.access = access;
    return static_cast<double>(strided_ns(form, count));
  };
  EXPECT_NEAR(ns(Access::narrow_numbers), 100'000, 1);
  EXPECT_NEAR(ns(Access::narrow_scattered_numbers), 100'000 * 3.9 / 2.8, 1);
  EXPECT_NEAR(ns(Access::scattered_numbers), 100'000 * 3.9 / 4.4, 1);
  EXPECT_NEAR(ns(Access::numbers), 100e15 / taken_bytes(), 1);
  EXPECT_NEAR(ns(Access::vectors), 25'000 / 0.92, 1);
  count /= 5;  // 20 MB, half of the cache, which gives less than this memory
  EXPECT_NEAR(ns(Access::narrow_numbers), 20'000, 1);
  EXPECT_NEAR(ns(Access::vectors), 5'000 / 0.92, 1);
  gpu_.memory_bytes_per_second = 1e12;
  EXPECT_NEAR(ns(Access::vectors), 20e15 / taken_bytes(), 1);
}

TEST_F(LaunchWork, OfNumbersIsByTheMemoryWhereThreadsReadAsFast) {
  gpu_.memory_bytes_per_second = 5e11;
  KernelForm form{.kind = Kind::elementwise, .tensors = 1};
  for (const Access access : {Access::narrow_numbers, Access::scattered_numbers, Access::numbers,
                              Access::narrow_scattered_numbers}) {
    form.access = access;
    EXPECT_NEAR(static_cast<double>(strided_ns(form, 25'000'000)), 200'000 / 0.9, 1);
  }
}

// 12 pictures of 64 channels, 10 x 20 points each, windows of 7 x 5 places: by the GPU's data sheet
// 108 x 128 lanes' instructions a cycle, of which each multiplies and adds.
TEST_F(LaunchWork, OfADepthwiseConvolutionIsThePlacesOfItsWindows) {
  gpu_ = *find_gpu("a100-80gb");
  const auto attention = [&](Kind kind, std::vector<int> numbers) {
    std::vector<void*> arguments;
    for (int& number : numbers) arguments.push_back(&number);
    const Work work = launch_work(gpu_, {.kind = kind}, {1, 1, arguments.data()}, blocks_);
    return static_cast<double>(work.ns[static_cast<std::size_t>(WorkKind::attention)] - kStartNs);
  };
  constexpr int kOutputs = 12 * 64 * 10 * 20;
  const double lanes_ns = 26.0 * kOutputs * 7 * 5 / (19.5e12 / (2 * 64) * 128) * 1e9;
  EXPECT_NEAR(
      attention(Kind::depthwise_forward, {0, 0, 0, 0, 0, kOutputs, 64, 1, 20, 10, 20, 10, 7, 5}),
      lanes_ns, 2);
  EXPECT_NEAR(
      attention(Kind::depthwise_of_input, {0, 0, 0, kOutputs, 64, 1, 64, 20, 10, 20, 10, 7, 5}),
      lanes_ns, 2);
  EXPECT_NEAR(attention(Kind::depthwise_of_filter, {0, 0, 0, 12, 64, 64, 1, 20, 10, 20, 10, 7, 5}),
              lanes_ns, 2);
}

TEST_F(LaunchWork, OfADepthwiseConvolutionOfSmallWindowsIsWhatItMoves) {
  std::vector<int> numbers{0, 0, 0, 0, 0, 1'000'000, 64, 1, 20, 10, 20, 10, 1, 1};
  std::vector<void*> arguments;
  for (int& number : numbers) arguments.push_back(&number);
  KernelForm form{.kind = Kind::depthwise_forward, .width = 2};
  EXPECT_EQ(memory_ns(form, arguments, dim3(1000), dim3(1000)), 4000);
  form.kind = Kind::depthwise_of_input;
  numbers = {0, 0, 0, 1'000'000, 64, 1, 64, 20, 10, 20, 10, 3, 3};
  EXPECT_EQ(memory_ns(form, arguments, dim3(1000), dim3(1000)), 48'000);
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

constexpr std::int64_t kManyFlops = 1'000'000'000'000'000;

/// Of a product that nothing but its operations limits.
double rate_of(const char* gpu_name, const Product& product) {
  const Gpu& gpu = *find_gpu(gpu_name);
  const std::int64_t ns = product_work(gpu, product).all_ns() - gpu.products.start_ns;
  return static_cast<double>(product.flops) / static_cast<double>(ns) * 1e9;
}

TEST(ProductWork, RunsAtASlowerRateWhereItsRowsAreNotSixteenBytesApart) {
  EXPECT_EQ(row_bytes({768, 3072}, CUDA_R_16BF), 16);
  EXPECT_EQ(row_bytes({768, 30522}, CUDA_R_16BF), 4);
  EXPECT_EQ(row_bytes({50257, 768}, CUDA_R_16BF), 2);
  const auto part = [](const char* gpu, std::int64_t bytes) {
    const double whole = rate_of(gpu, {.flops = kManyFlops, .precision = Precision::bfloat16});
    return rate_of(gpu,
                   {.flops = kManyFlops, .precision = Precision::bfloat16, .row_bytes = bytes}) /
           whole;
  };
  EXPECT_NEAR(part("h100", 4), 0.3, 1e-6);
  EXPECT_NEAR(part("h100", 2), 0.16, 1e-6);
  EXPECT_NEAR(part("h100", 8), 1, 1e-6);
  EXPECT_NEAR(part("a100-80gb", 2), 0.32, 1e-6);
}

TEST(ProductWork, RunsAtTheShareOfItsUnits) {
  EXPECT_NEAR(rate_of("h100", {.flops = kManyFlops, .precision = Precision::float32}),
              0.75 * 66.9e12, 1e9);
  EXPECT_NEAR(rate_of("a100-80gb", {.flops = kManyFlops, .precision = Precision::float32}),
              0.9 * 19.5e12, 1e9);
  // By its limit of power.
  EXPECT_NEAR(rate_of("l40s", {.flops = kManyFlops, .precision = Precision::float32}),
              0.51 * 91.6e12, 1e9);
  const double tf32 = rate_of("h100", {.flops = kManyFlops, .precision = Precision::tensorfloat32});
  EXPECT_NEAR(tf32, 0.7 * 0.805 * 494.7e12, 1e9);
  EXPECT_NEAR(rate_of("a100-80gb", {.flops = kManyFlops, .precision = Precision::tensorfloat32}),
              0.805 * 156e12, 1e9);
  EXPECT_NEAR(rate_of("h100", {.flops = kManyFlops,
                               .precision = Precision::tensorfloat32,
                               .is_convolution = true}) /
                  tf32,
              0.8, 1e-6);
  // A GeForce's lanes have the same peak.
  EXPECT_NEAR(rate_of("rtx-4090", {.flops = kManyFlops, .precision = Precision::tensorfloat32}),
              82.6e12, 1e9);
  // A GeForce feeds its tensor cores, which are half as fast.
  for (const bool is_convolution : {false, true}) {
    EXPECT_NEAR(rate_of("rtx-3090", {.flops = kManyFlops,
                                     .precision = Precision::float16,
                                     .is_convolution = is_convolution}),
                71e12, 1e9);
  }
}

}  // namespace
}  // namespace headroom::dry_run
