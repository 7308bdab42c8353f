// SPDX-License-Identifier: Apache-2.0
#include "src/memory/ledger.h"

#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "src/memory/address_map.h"

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

TEST(LedgerTest, NamesAllTensorsOfThePeakAndCountsThoseThatAreAlike) {
  Ledger ledger;
  for (std::size_t i = 0; i < 40; ++i) {
    ledger.allocated(place(i), static_cast<std::int64_t>(1 + (i * 7) % 20), 0);
  }
  for (std::size_t i = 0; i < 40; ++i) ledger.freed(place(i));
  const PeakReport report = ledger.peak();
  ASSERT_EQ(report.tensors.size(), 20U);
  for (std::size_t i = 0; i < report.tensors.size(); ++i) {
    EXPECT_EQ(report.tensors[i].bytes, static_cast<std::int64_t>(20 - i));
    EXPECT_EQ(report.tensors[i].count, 2);
  }
}

TEST(LedgerTest, KeepsApartTensorsOfOtherPlacesAndCategories) {
  Ledger ledger;
  for (std::int64_t block = 0; block < 3; ++block) {
    enter_block(block);
    ledger.allocated(place(static_cast<std::size_t>(block)), 8, 0);
  }
  enter_block(kNoBlock);
  ledger.allocated(place(3), 8, 0);
  ledger.allocated(place(4), 8, 0);
  ledger.tag(tensor_at(4), Category::weights);
  EXPECT_EQ(ledger.peak().tensors.size(), 5U);
}

TEST(LedgerTest, FollowsTheCourseOfMemoryFromPlaceToPlace) {
  Ledger ledger;
  ledger.allocated(place(0), 100, 0);
  ledger.start_places();
  {
    const PhaseScope phase(Phase::forward);
    enter_block(0);
    ledger.allocated(place(1), 10, 2);
    ledger.allocated(place(2), 5, 0);
    ledger.freed(place(2));
    enter_block(1);
    ledger.allocated(place(3), 1, 0);
    enter_block(kNoBlock);
  }
  const PhaseScope phase(Phase::update);
  ledger.freed(place(3));
  const std::vector<PlaceMemory> course = ledger.end_places();
  ASSERT_EQ(course.size(), 3U);
  EXPECT_EQ(course[0].phase, Phase::forward);
  EXPECT_EQ(course[0].block, 0);
  EXPECT_EQ(course[0].bytes, 117);
  EXPECT_EQ(course[1].block, 1);
  EXPECT_EQ(course[1].bytes, 113);
  EXPECT_EQ(course[2].phase, Phase::update);
  EXPECT_EQ(course[2].bytes, 112);
  ledger.allocated(place(4), 1, 0);
  EXPECT_TRUE(ledger.end_places().empty());
}

TEST(LedgerTest, FollowsTheFirstPlacesOfACourseOnly) {
  Ledger ledger;
  ledger.start_places();
  for (std::size_t i = 0; i < Ledger::kMaxPlaces + 10; ++i) {
    enter_block(static_cast<std::int64_t>(i % 2));
    ledger.allocated(place(0), 1, 0);
    ledger.freed(place(0));
  }
  enter_block(kNoBlock);
  EXPECT_EQ(ledger.end_places().size(), Ledger::kMaxPlaces);
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
  EXPECT_EQ(ledger.peak().tensors.front().origin.block, 3);
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

const void* address(std::uint64_t number) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(number));
}

/// Does the same to both maps many times, and looks at all of both now and then.
void compare_with_unordered_map(std::uint64_t addresses, std::uint64_t spacing) {
  std::mt19937_64 random(addresses);
  AddressMap<std::uint64_t> map;
  std::unordered_map<const void*, std::uint64_t> expected;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const void* const where = address((1 + random() % addresses) * spacing);
    if (random() % 2 == 0) {
      map.insert(where, i);
      expected[where] = i;
    } else {
      const auto found = expected.find(where);
      ASSERT_EQ(map.take(where),
                found == expected.end() ? std::nullopt : std::optional(found->second));
      if (found != expected.end()) expected.erase(found);
    }
    if (i % 10'000 != 0) continue;
    std::size_t visited = 0;
    map.for_each([&](std::uint64_t) { ++visited; });
    ASSERT_EQ(visited, expected.size());
    for (const auto& [known, value] : expected) {
      ASSERT_NE(map.find(known), nullptr);
      ASSERT_EQ(*map.find(known), value);
    }
  }
}

TEST(AddressMapTest, KeepsWhatAnyMapWouldKeep) {
  compare_with_unordered_map(300, 64);            // as a step's allocations
  compare_with_unordered_map(20'000, 64);         // grows
  compare_with_unordered_map(700, 1ULL << 21);    // as a caching allocator's segments
  compare_with_unordered_map(5'000, 1ULL << 45);  // few bits that differ
}

TEST(AddressMapTest, KnowsNothingAtFirst) {
  AddressMap<int> map;
  EXPECT_EQ(map.find(address(64)), nullptr);
  EXPECT_EQ(map.find(nullptr), nullptr);
  EXPECT_EQ(map.take(nullptr), std::nullopt);
}

}  // namespace
}  // namespace headroom
