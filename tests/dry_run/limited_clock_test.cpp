// SPDX-License-Identifier: Apache-2.0
// Products on an H200 for a second or a few milliseconds, against what aiconfigurator's tables have
// of them, and what must hold whatever the figures.
#include "src/dry_run/limited_clock.h"

#include <gtest/gtest.h>

namespace headroom::dry_run {
namespace {

const Gpu& h200() { return *find_gpu("h200"); }

Work product_of(std::int64_t m, std::int64_t n, std::int64_t k, const Gpu& gpu = h200()) {
  return product_work(gpu, {.flops = product_flops(m, n, k, 1, CUDA_R_16BF),
                            .precision = Precision::bfloat16,
                            .bytes = product_bytes(m, n, k, 1, CUDA_R_16BF),
                            .written_bytes = m * n * element_bytes(CUDA_R_16BF)});
}

/// One on the heels of the other, for so long.
class Load {
 public:
  explicit Load(const Power& power = h200().power) : clock_(power) {}

  /// What the last one takes.
  Work run(const Work& work, std::int64_t ns) {
    Work last{};
    for (const std::int64_t end = now_ + ns; now_ < end; now_ += last.all_ns()) {
      last = clock_.run(work, now_);
    }
    return last;
  }
  /// What so many of them take.
  std::int64_t run_times(const Work& work, int times) {
    const std::int64_t begin = now_;
    for (int i = 0; i < times; ++i) now_ += clock_.run(work, now_).all_ns();
    return now_ - begin;
  }
  void pause(std::int64_t ns) { now_ += ns; }

 private:
  LimitedClock clock_;
  std::int64_t now_ = 0;
};

constexpr std::int64_t kMs = 1'000'000;

TEST(LimitedClock, LetsLastingProductsTakeWhatATableHasOfThem) {
  struct Row {
    std::int64_t m, n, k;
    double burst_ms;    // of some 70 of them
    double lasting_ms;  // behind a second of them, at 690 W
  };
  constexpr double kOfOneProduct = 0.08;  // how far the law of products is off
  for (const Row& row :
       {Row{3584, 10240, 4096, 0.388, 0.444}, Row{3584, 10240, 6144, 0.555, 0.668},
        Row{3584, 8192, 8192, 0.610, 0.673}, Row{8192, 8192, 1024, 0.191, 0.225}}) {
    const Work product = product_of(row.m, row.n, row.k);
    const auto burst = static_cast<double>(Load{}.run(product, 20 * kMs).all_ns());
    const auto lasting = static_cast<double>(Load{}.run(product, 1000 * kMs).all_ns());
    EXPECT_NEAR(burst * 1e-6, row.burst_ms, kOfOneProduct * row.burst_ms) << row.n << " " << row.k;
    EXPECT_NEAR(lasting * 1e-6, row.lasting_ms, kOfOneProduct * row.lasting_ms) << row.k;
    EXPECT_GT(lasting, 1.07 * burst);
  }
}

TEST(LimitedClock, KeepsTheGpuAtItsLimit) {
  const Work product = product_of(8192, 8192, 8192);
  const Work lasting = Load{}.run(product, 1000 * kMs);
  const auto seconds = static_cast<double>(lasting.all_ns()) * 1e-9;
  const double share = static_cast<double>(product.all_ns()) * 1e-9 / seconds;
  const double watts = (product.moving_joules + share * product.computing_joules) / seconds;
  EXPECT_LT(share, 0.95);
  EXPECT_NEAR(h200().power.idle_watts + watts, h200().power.limit_watts, 1);
}

TEST(LimitedClock, FallsFurtherWhereTheLimitIsLower) {
  const Work product = product_of(8192, 8192, 8192);
  Power power = h200().power;
  const std::int64_t full = Load{power}.run(product, 1000 * kMs).all_ns();
  power.limit_watts = 500;
  const std::int64_t at_500 = Load{power}.run(product, 1000 * kMs).all_ns();
  EXPECT_GT(at_500, full * 6 / 5);
  power.limit_watts = 100;  // less than it draws in any case
  EXPECT_EQ(Load{power}.run(product, 1000 * kMs).all_ns(), 5 * product.all_ns());
}

TEST(LimitedClock, LetsABurstRunAtTheFullClock) {
  const Work product = product_of(3584, 10240, 4096);
  Load load;
  EXPECT_EQ(load.run(product, 20 * kMs).all_ns(), product.all_ns());
  EXPECT_GT(load.run(product, 100 * kMs).all_ns(), product.all_ns());
  load.pause(500 * kMs);
  load.run(product, 20 * kMs);
  EXPECT_EQ(load.run(product, kMs).all_ns(), product.all_ns());
}

TEST(LimitedClock, DoesNotSlowTheMemory) {
  Power power = h200().power;
  power.limit_watts = 300;
  const Work copy = memory_work(h200(), {1'000'000'000}, Access::vectors);
  Load load{power};
  EXPECT_EQ(load.run(copy, 1000 * kMs).all_ns(), copy.all_ns());
  const Work product = product_of(8192, 8192, 8192);
  EXPECT_EQ(load.run(product, kMs).all_ns(), product.all_ns()) << "the first behind them";
  EXPECT_GT(load.run(product, 1000 * kMs).all_ns(), product.all_ns());
}

TEST(LimitedClock, NeverFallsWherePowerIsNotKnown) {
  const Work product = product_of(8192, 8192, 8192);
  EXPECT_EQ(Load{Power{}}.run(product, 1000 * kMs).all_ns(), product.all_ns());
}

// The medians of aiconfigurator's ten tables of an H100, of 8192 x 8192 results, each of 36
// behind 36.
TEST(ProductWork, RunsAtASlowerRateTheLessItMultipliesForEachNumberThatItWrites) {
  const Gpu& gpu = *find_gpu("h100");
  for (const auto& [k, measured] :
       {std::pair{256, 0.511}, {512, 0.627}, {1024, 0.710}, {2048, 0.745}, {4096, 0.753}}) {
    const Work product = product_of(8192, 8192, k, gpu);
    constexpr int kTimes = 36;
    Load load(gpu.power);
    load.run_times(product, kTimes);
    const auto ns = static_cast<double>(load.run_times(product, kTimes)) / kTimes;
    const double rate = static_cast<double>(product.product_flops) / ns * 1e9;
    EXPECT_NEAR(rate / peak_flops(gpu, Precision::bfloat16), measured, 0.025) << k;
  }
}

TEST(Work, DrawsWhatItComputesAndMoves) {
  const Power& power = h200().power;
  const Work product = product_of(64, 128, 256);
  EXPECT_DOUBLE_EQ(product.computing_joules, power.joules_per_flop * 2 * 64 * 128 * 256);
  EXPECT_DOUBLE_EQ(product.moving_joules,
                   power.joules_per_byte * 2 * (64 * 128 + 128 * 256 + 64 * 256));
  const Work copy = memory_work(h200(), {1'000'000'000}, Access::vectors);
  EXPECT_DOUBLE_EQ(copy.moving_joules, power.joules_per_byte * 1e9);
  const Work both = side_by_side(product, copy);
  EXPECT_EQ(both.all_ns(), copy.all_ns());
  EXPECT_DOUBLE_EQ(both.computing_joules, product.computing_joules);
  EXPECT_DOUBLE_EQ(both.moving_joules, product.moving_joules + copy.moving_joules);
  const Work float32 = product_work(h200(), {.flops = 1'000'000, .precision = Precision::float32});
  EXPECT_NEAR(float32.computing_joules, 1e6 * power.joules_per_flop * 989.4 / 66.9, 1e-12);
  const Work float8 = attention_work(h200(), 1'000'000, Precision::float8, 1);
  EXPECT_DOUBLE_EQ(float8.computing_joules, 1e6 * power.joules_per_flop * 0.7);
}

}  // namespace
}  // namespace headroom::dry_run
