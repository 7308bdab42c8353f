// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/sent_by_ranks.h"

#include <gtest/gtest.h>

namespace headroom::dry_run {
namespace {

const PartlyKnown kWhole{{1, 2, 3, 4}, {}};
const PartlyKnown kPartly{{5, 0, 7, 8}, {false, true, false, false}};

void expect_same(const PartlyKnown& one, const PartlyKnown& other) {
  EXPECT_EQ(one.bytes, other.bytes);
  EXPECT_EQ(one.gaps, other.gaps);
}

TEST(SentByRanks, ArriveAsTheyWereSent) {
  for (const PartlyKnown& known : {kWhole, kPartly, PartlyKnown{}}) {
    expect_same(known_of(message_of(known), 4), known);
  }
  EXPECT_FALSE(known_of({1, 2, 3}, 4).has_any()) << "another rank sent less";
}

TEST(SentByRanks, HaveParts) {
  const Sent sent({message_of(kWhole), message_of(kPartly), {}}, 4);
  ASSERT_EQ(sent.ranks(), 3);
  expect_same(sent.of(0, 2, 2), {{3, 4}, {}});
  expect_same(sent.of(1, 0, 2), {{5, 0}, {false, true}});
  EXPECT_FALSE(sent.of(2, 0, 2).has_any());
  EXPECT_FALSE(sent.reduced(0, 4, Reduction::max, Number::uint8).has_any());
}

TEST(SentByRanks, AreReduced) {
  const Sent sent({message_of(kWhole), message_of(kPartly)}, 4);
  const PartlyKnown most = sent.reduced(1, 3, Reduction::max, Number::uint8);
  EXPECT_EQ(most.gaps, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(most.bytes[1], 7);
  EXPECT_EQ(most.bytes[2], 8);
}

TEST(SentByRanks, OfWhichOneIsPlayedAreAllTheSame) {
  const Sent sent(kWhole, /*ranks=*/8);
  EXPECT_EQ(sent.ranks(), 8);
  expect_same(sent.of(7), kWhole);
  EXPECT_EQ(sent.reduced(0, 1, Reduction::sum, Number::uint8).bytes, (Peers::Message{8}));
}

}  // namespace
}  // namespace headroom::dry_run
