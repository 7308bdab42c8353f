// SPDX-License-Identifier: Apache-2.0
// How long launches of attention take.
#include "src/dry_run/attention_launch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace headroom::dry_run {
namespace {

using Kind = KernelForm::Kind;

/// Parameters of PyTorch's memory-efficient attention, of which those before `at` are pointers.
std::array<std::int32_t, 64> efficient_parameters(std::size_t at,
                                                  std::initializer_list<std::int32_t> numbers) {
  std::array<std::int32_t, 64> all{};
  std::copy(numbers.begin(), numbers.end(), all.begin() + static_cast<std::ptrdiff_t>(at));
  return all;
}

class AttentionLaunch : public testing::Test {
 protected:
  AttentionLaunch() { gpu_.products.start_ns = 0; }
  std::int64_t attention_ns(const KernelForm& form, dim3 grid, void* argument) const {
    const Work work = work_of_attention(gpu_, form, {grid, 128, &argument});
    return work.ns[static_cast<std::size_t>(WorkKind::attention)];
  }

  Gpu gpu_ = *find_gpu("a100-80gb");
};

TEST_F(AttentionLaunch, OfAttentionIsItsProducts) {
  const double rate = gpu_.products.share * 312e12;
  const KernelForm form{
      .kind = Kind::flash_forward, .head = 64, .rows = 128, .precision = Precision::bfloat16};
  const double forward = 4.0 * 6 * 1024 * 1024 * 64;  // 6 heads, 8 blocks of queries
  EXPECT_NEAR(attention_ns(form, dim3(8, 2, 3), nullptr), forward / (0.7 * rate) * 1e9, 2);
  KernelForm causal = form;
  causal.is_causal = true;
  EXPECT_NEAR(attention_ns(causal, dim3(8, 2, 3), nullptr), forward / (0.7 * rate) * 1e9 * 9 / 16,
              2);
}

TEST_F(AttentionLaunch, OfMemoryEfficientAttentionIsByItsParameters) {
  const double rate = gpu_.products.share * 312e12;
  const double forward = 4.0 * 6 * 1024 * 1504 * 256;  // whole blocks
  KernelForm form{.kind = Kind::efficient_forward, .rows = 32, .precision = Precision::bfloat16};
  for (const std::size_t at : {24, 26}) {  // PyTorch 2.11 and 2.5
    auto all = efficient_parameters(at, {256, 256, 1000, 1500, 1500, 0, 9, 9, 9, 0, 2 * 256});
    EXPECT_NEAR(attention_ns(form, dim3(32, 2, 3), all.data()), forward / (0.43 * rate) * 1e9, 20);
  }
  form.head = 512;  // narrower ones are filled up
  auto narrow = efficient_parameters(24, {256, 256, 1000, 1500, 1500, 0, 9, 9, 9, 0, 2 * 256});
  EXPECT_NEAR(attention_ns(form, dim3(32, 2, 3), narrow.data()), 2 * forward / (0.43 * rate) * 1e9,
              40);
  form.head = 0;
  form.kind = Kind::efficient_backward;
  auto all = efficient_parameters(36, {256, 256, 1000, 1500, 2, 0});
  EXPECT_NEAR(attention_ns(form, dim3(1, 2, 3), all.data()), 2.5 * forward / (0.34 * rate) * 1e9,
              40);
}

TEST_F(AttentionLaunch, OfMemoryEfficientAttentionIsThatOfAmpere) {
  const auto rate = [&](std::string_view name, Precision precision) {
    gpu_ = *find_gpu(name);
    gpu_.products.start_ns = 0;
    const KernelForm form{.kind = Kind::efficient_forward, .rows = 64, .precision = precision};
    auto all = efficient_parameters(24, {64, 64, 6400, 6400, 6400, 0, 9, 9, 9, 0, 2 * 64});
    return 4.0 * 6 * 6400 * 6400 * 64 /
           static_cast<double>(attention_ns(form, dim3(100, 2, 3), all.data())) / 1000;
  };
  EXPECT_NEAR(rate("h100", Precision::float32), 25, 1);
  EXPECT_NEAR(rate("a100-80gb", Precision::float32), 14.6, 0.5);  // three of TF32, and no lanes
  EXPECT_NEAR(rate("t4", Precision::float32), 2.2, 0.3);          // lanes
  EXPECT_NEAR(rate("rtx-4090", Precision::float32), 82.6 / 3, 0.5);  // no more than products
  EXPECT_NEAR(rate("h100", Precision::bfloat16), 230, 5);
}

TEST_F(AttentionLaunch, OfCausalMemoryEfficientAttentionIsHalf) {
  const KernelForm form{
      .kind = Kind::efficient_forward, .rows = 64, .precision = Precision::bfloat16};
  const auto ns_of = [&](std::int32_t mask) {
    auto all = efficient_parameters(24, {64, 64, 6400, 6400, 6400, mask, 9, 9, 9, 0, 2 * 64});
    return static_cast<double>(attention_ns(form, dim3(100, 2, 3), all.data()));
  };
  EXPECT_NEAR(ns_of(1) / ns_of(0), 0.505, 0.001);
}

// By measurements that docs/time_rates.md names, of 2,048 tokens and more.
TEST_F(AttentionLaunch, OfFlashAttentionIsByWhatTensorCoresDoForIt) {
  const auto rate = [&](std::string_view name, Kind kind, std::int64_t head) {
    gpu_ = *find_gpu(name);
    const KernelForm form{
        .kind = kind, .head = head, .rows = 128, .precision = Precision::bfloat16};
    const double products = kind == Kind::flash_forward ? 4 : 10;
    const double flops = products * 160 * 8192 * 8192 * static_cast<double>(head);
    const auto start = static_cast<double>(gpu_.products.start_ns);
    return flops / (static_cast<double>(attention_ns(form, dim3(64, 16, 10), nullptr)) - start) /
           1000;
  };
  EXPECT_NEAR(rate("h100", Kind::flash_forward, 128), 370, 10);
  EXPECT_NEAR(rate("h100", Kind::flash_forward, 64), 310, 10);
  EXPECT_NEAR(rate("h100", Kind::flash_backward, 64), 270, 30);
  EXPECT_NEAR(rate("b200", Kind::flash_forward, 64), 350, 40);
  EXPECT_NEAR(rate("b200", Kind::flash_backward, 64), 310, 30);
  EXPECT_NEAR(rate("rtx-4090", Kind::flash_forward, 64), 172, 8);
}

}  // namespace
}  // namespace headroom::dry_run
