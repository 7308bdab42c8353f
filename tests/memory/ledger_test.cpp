// SPDX-License-Identifier: Apache-2.0
#include "src/memory/ledger.h"

#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

namespace headroom {
namespace {

/// Addresses that nothing else has; the ledger never looks behind them.
std::array<char, 64> places;

void* place(std::size_t index) { return &places.at(index); }

/// A tensor whose storage begins at a place.
at::Tensor tensor_at(std::size_t index) {
  return at::from_blob(place(index), {1}, at::TensorOptions().dtype(at::kByte));
}

std::int64_t of(const PeakReport& report, Category category) {
  return report.by_category[static_cast<std::size_t>(category)];
}

std::int64_t sum(const PeakReport& report) {
  return std::accumulate(report.by_category.begin(), report.by_category.end(), std::int64_t{0});
}

TEST(LedgerTest, PeakIsTheMostThatWasLiveAtOnce) {
  Ledger ledger;
  EXPECT_EQ(ledger.peak().bytes, 0);
  ledger.allocated(place(0), 100, 0);
  ledger.allocated(place(1), 50, 0);
  ledger.freed(place(0));
  ledger.allocated(place(2), 60, 0);
  EXPECT_EQ(ledger.current_bytes(), 110);
  EXPECT_EQ(ledger.peak().bytes, 150);
  ledger.allocated(place(3), 41, 0);
  EXPECT_EQ(ledger.peak().bytes, 151);
}

TEST(LedgerTest, CategoriesSumToThePeak) {
  Ledger ledger;
  ledger.allocated(place(0), 100, 28);
  ledger.allocated(place(1), 50, 14);
  ledger.allocated(place(2), 7, 1);
  ledger.tag(tensor_at(0), Category::weights);
  ledger.tag(tensor_at(1), Category::activations);
  const PeakReport report = ledger.peak();
  EXPECT_EQ(report.bytes, 200);
  EXPECT_EQ(sum(report), 200);
  EXPECT_EQ(of(report, Category::weights), 100);
  EXPECT_EQ(of(report, Category::activations), 50);
  EXPECT_EQ(of(report, Category::temporary), 7);
  EXPECT_EQ(of(report, Category::rounding), 43);
  EXPECT_EQ(ledger.current_bytes(Category::weights), 100);
}

TEST(LedgerTest, ThePeakKeepsWhatDiedSince) {
  Ledger ledger;
  ledger.allocated(place(0), 100, 0);
  ledger.tag(tensor_at(0), Category::gradients);
  ledger.allocated(place(1), 10, 0);  // the peak
  ledger.freed(place(0));
  ledger.freed(place(1));
  ledger.allocated(place(0), 40, 0);  // another tensor at an address that was used before
  ledger.tag(tensor_at(0), Category::batch);
  const PeakReport report = ledger.peak();
  EXPECT_EQ(of(report, Category::gradients), 100);
  EXPECT_EQ(of(report, Category::temporary), 10);
  EXPECT_EQ(of(report, Category::batch), 0);
  EXPECT_EQ(sum(report), 110);
}

TEST(LedgerTest, ATagBehindThePeakCountsWhileTheTensorLives) {
  Ledger ledger;
  ledger.allocated(place(0), 100, 0);
  ledger.allocated(place(1), 10, 0);
  ledger.freed(place(1));
  ledger.tag(tensor_at(0), Category::optimizer_state);
  EXPECT_EQ(of(ledger.peak(), Category::optimizer_state), 100);
}

TEST(LedgerTest, AHigherCategoryHolds) {
  Ledger ledger;
  ledger.allocated(place(0), 100, 0);
  ledger.tag(tensor_at(0), Category::weights);
  ledger.tag(tensor_at(0), Category::activations);
  EXPECT_EQ(ledger.current_bytes(Category::weights), 100);
  EXPECT_EQ(ledger.current_bytes(Category::activations), 0);
}

TEST(LedgerTest, IgnoresWhatIsNotItsOwn) {
  Ledger ledger;
  ledger.allocated(place(0), 100, 0);
  ledger.freed(place(1));
  ledger.set_rounding(place(1), 8);
  ledger.tag(tensor_at(1), Category::weights);
  ledger.tag(at::Tensor(), Category::weights);
  EXPECT_EQ(ledger.current_bytes(), 100);
  EXPECT_EQ(ledger.current_bytes(Category::weights), 0);
}

TEST(LedgerTest, RoundingThatIsToldLaterCounts) {
  Ledger ledger;
  ledger.allocated(place(0), 100, 0);
  ledger.set_rounding(place(0), 412);
  EXPECT_EQ(ledger.current_bytes(), 512);
  EXPECT_EQ(ledger.peak().bytes, 512);
  EXPECT_EQ(of(ledger.peak(), Category::rounding), 412);
  ledger.freed(place(0));
  EXPECT_EQ(ledger.current_bytes(), 0);
}

TEST(LedgerTest, NamesTheLargestTensorsInOrder) {
  Ledger ledger;
  for (std::size_t i = 0; i < 2 * Ledger::kLargest; ++i) {
    ledger.allocated(place(i), static_cast<std::int64_t>(1 + (i * 7) % 20), 0);
  }
  const PeakReport report = ledger.peak();
  ASSERT_EQ(report.largest.size(), Ledger::kLargest);
  for (std::size_t i = 0; i < report.largest.size(); ++i) {
    EXPECT_EQ(report.largest[i].bytes, static_cast<std::int64_t>(20 - i));
  }
}

TEST(LedgerTest, TellsWhereThePeakWas) {
  Ledger ledger;
  {
    const PhaseScope phase(Phase::backward);
    enter_block(3);
    ledger.allocated(place(0), 100, 0);
  }
  const PhaseScope phase(Phase::update);
  ledger.allocated(place(1), 0, 0);  // as high, not higher
  EXPECT_EQ(ledger.peak().where.phase, Phase::backward);
  EXPECT_EQ(ledger.peak().where.block, 3);
  EXPECT_EQ(ledger.peak().largest.front().origin.block, 3);
}

TEST(LedgerTest, SumsWhatManyThreadsDo) {
  Ledger ledger;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&ledger, t] {
      for (int i = 0; i < 1000; ++i) {
        ledger.allocated(place(t), 8, 0);
        ledger.freed(place(t));
      }
      ledger.allocated(place(t), 8, 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ledger.current_bytes(), 32);
  EXPECT_EQ(ledger.peak().bytes, 32);
}

}  // namespace
}  // namespace headroom
