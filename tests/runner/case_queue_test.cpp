// SPDX-License-Identifier: Apache-2.0
#include "src/runner/case_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace headroom {
namespace {

const std::array<Case, 4> kCases = {{{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}}};

QueuedCase queued(std::size_t piece, std::size_t places, const Case* reference = nullptr) {
  return {.one = &kCases[piece], .piece = piece, .places = places, .reference = reference};
}

/// All that can start now: "0:0,1 1:2" is the first case on two places and the second on one.
std::string started(CaseQueue& queue) {
  std::string text;
  while (const auto start = queue.start()) {
    text += (text.empty() ? "" : " ") + std::to_string(start->piece);
    char mark = ':';
    for (const std::size_t place : start->places) {
      text += mark + std::to_string(place);
      mark = ',';
    }
  }
  return text;
}

TEST(CaseQueue, hands_each_place_to_one_case_at_a_time) {
  CaseQueue queue({queued(0, 1), queued(1, 1), queued(2, 1), queued(3, 1)}, 2);
  EXPECT_EQ(started(queue), "0:0 1:1");
  queue.end(1);
  EXPECT_EQ(started(queue), "2:1");
  queue.end(0);
  EXPECT_EQ(started(queue), "3:0");
}

TEST(CaseQueue, lets_no_case_overtake_one_that_waits_for_places) {
  CaseQueue queue({queued(0, 1), queued(1, 2), queued(2, 1)}, 2);
  EXPECT_EQ(started(queue), "0:0");
  queue.end(0);
  EXPECT_EQ(started(queue), "1:0,1");
  queue.end(1);
  EXPECT_EQ(started(queue), "2:0");
}

TEST(CaseQueue, starts_others_while_one_waits_for_its_reference) {
  CaseQueue queue({queued(0, 1), queued(1, 1, &kCases[0]), queued(2, 1)}, 3);
  EXPECT_EQ(started(queue), "0:0 2:1");
  queue.end(2);
  EXPECT_EQ(started(queue), "");
  queue.end(0);
  EXPECT_EQ(started(queue), "1:0");
}

TEST(CaseQueue, does_not_wait_for_a_reference_that_is_not_in_it) {
  CaseQueue queue({queued(1, 1, &kCases[0])}, 1);
  EXPECT_EQ(started(queue), "1:0");
}

TEST(CaseQueue, starts_nothing_once_it_was_stopped) {
  CaseQueue queue({queued(0, 1), queued(1, 1)}, 1);
  EXPECT_EQ(started(queue), "0:0");
  queue.stop();
  queue.end(0);
  EXPECT_EQ(started(queue), "");
}

}  // namespace
}  // namespace headroom
