// SPDX-License-Identifier: Apache-2.0
#include "models/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "models/table.h"

namespace headroom {
namespace {

constexpr RotaryScaling kScaling{.theta = 10'000.0,
                                 .factor = 8.0,
                                 .low_frequency_factor = 1.0,
                                 .high_frequency_factor = 4.0,
                                 .trained_positions = 64.0};
constexpr std::int64_t kHeadWidth = 16;
constexpr std::int64_t kTokens = 12;

const at::TensorOptions kDoubles = at::TensorOptions(at::kCPU).dtype(at::kDouble);

/// Pair `pair`'s angle from one token to the next, by the paper's formula, and Llama 3.1's change.
double angle(int pair) {
  const double plain = std::pow(kScaling.theta, -2.0 * pair / static_cast<double>(kHeadWidth));
  const double turns = kScaling.trained_positions * plain / (2.0 * std::numbers::pi);
  if (turns > 4.0) return plain;
  if (turns < 1.0) return plain / kScaling.factor;
  const double smooth = (turns - 1.0) / 3.0;
  return (1.0 - smooth) * plain / kScaling.factor + smooth * plain;
}

TEST(Rotary, TurnsSlowPairsMoreSlowly) {
  Rotary rotary(kScaling, kHeadWidth);
  const auto tables = rotary.tables(kTokens, kDoubles);
  ASSERT_EQ(tables->cos.sizes(), (std::vector<std::int64_t>{1, 1, kTokens, kHeadWidth}));
  for (int pair = 0; pair < kHeadWidth / 2; ++pair) {
    const double turned = 11 * angle(pair);
    for (const std::int64_t feature : {pair, pair + static_cast<int>(kHeadWidth) / 2}) {
      EXPECT_NEAR(tables->cos[0][0][11][feature].item<double>(), std::cos(turned), 1e-12);
      EXPECT_NEAR(tables->sin[0][0][11][feature].item<double>(), std::sin(turned), 1e-12);
    }
  }
  EXPECT_EQ(angle(0), 1.0);
  EXPECT_LT(angle(7), 0.2 * std::pow(kScaling.theta, -14.0 / 16.0));
}

// What attention sees of two tokens depends on how far apart they are, and on nothing else.
TEST(Rotary, ProductsDependOnTheDistanceAlone) {
  Rotary rotary(kScaling, kHeadWidth);
  const auto tables = rotary.tables(kTokens, kDoubles);
  const at::Tensor q = at::randn({1, 1, 1, kHeadWidth}, kDoubles).expand({1, 1, kTokens, -1});
  const at::Tensor k = at::randn({1, 1, 1, kHeadWidth}, kDoubles).expand({1, 1, kTokens, -1});
  const at::Tensor scores = rotate(q, *tables).matmul(rotate(k, *tables).transpose(2, 3))[0][0];
  for (const int distance : {0, 3, 7}) {
    const at::Tensor alike = scores.diagonal(distance);
    EXPECT_LT((alike - alike[0]).abs().max().item<double>(), 1e-12);
  }
  EXPECT_GT((scores[0][3] - scores[0][7]).abs().item<double>(), 1e-3);
}

TEST(Rotary, TablesAreSharedWhileTheyAreHeld) {
  Rotary rotary(kScaling, kHeadWidth);
  auto tables = rotary.tables(kTokens, kDoubles);
  EXPECT_EQ(rotary.tables(kTokens, kDoubles), tables);
  EXPECT_NE(rotary.tables(kTokens + 1, kDoubles), tables);
  EXPECT_EQ(rotary.tables(kTokens, kDoubles.dtype(at::kBFloat16))->sin.scalar_type(),
            at::kBFloat16);
  const std::weak_ptr<const RotaryTables> watch = tables;
  tables.reset();
  EXPECT_TRUE(watch.expired());
}

/// How often tables are made while this lives.
class TablesMade {
 public:
  TablesMade() {
    count = 0;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(&observe).scopes({at::RecordScope::FUNCTION}));
  }
  ~TablesMade() { at::removeCallback(handle_); }
  TablesMade(const TablesMade&) = delete;
  TablesMade& operator=(const TablesMade&) = delete;

  static inline int count = 0;

 private:
  static std::unique_ptr<at::ObserverContext> observe(const at::RecordFunction& function) {
    if (std::string(function.name()) == "aten::cos") ++count;
    return nullptr;
  }

  at::CallbackHandle handle_;
};

TEST(Rotary, ABatchesTablesLiveAsLongAsItsGraph) {
  const auto model =
      find_model("llama_mini")
          .make({.name = "llama_mini", .size = {.layers = 3, .width = 32, .heads = 4}},
                {.sequence_length = 8}, {at::kCPU, at::kFloat});
  const Batch batch{
      .inputs = at::arange(16).view({2, 8}), .attention_mask = {}, .labels = at::arange(2)};
  const TablesMade made;
  at::Tensor loss = model->loss(batch);
  EXPECT_EQ(TablesMade::count, 1);
  const at::Tensor x = at::randn({2, 8, 32});
  model->blocks()[1].run(x);  // as a block runs again in backward
  EXPECT_EQ(TablesMade::count, 1);
  loss.backward();
  loss.reset();
  model->blocks()[1].run(x);
  EXPECT_EQ(TablesMade::count, 2);
}

}  // namespace
}  // namespace headroom
