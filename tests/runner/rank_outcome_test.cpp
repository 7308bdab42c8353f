// SPDX-License-Identifier: Apache-2.0
// Which rank decides: replies that a run can't be made to give at will.
#include "src/runner/outcome.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;
using Ending = WorkerReply::Ending;

const Catalog& catalog() {
  static const Catalog catalog = parse_catalog(R"({"case": [], "techniques": [], "columns": [
    {"name": "run_peak_allocated_bytes", "type": "integer", "group": "memory", "summary": "",
     "origin": "worker"}]})");
  return catalog;
}

WorkerReply reply(Ending ending, int messages, int ended_at_ms) {
  WorkerReply reply;
  reply.ending = ending;
  reply.reason = std::string(ending == Ending::answered ? "" : "reason");
  reply.last.messages = messages;
  reply.ended_at += std::chrono::milliseconds(ended_at_ms);
  return reply;
}

WorkerReply answer(const std::string& status, int messages, int ended_at_ms,
                   bool peer_lost = false) {
  WorkerReply result = reply(Ending::answered, messages, ended_at_ms);
  result.record = {{"status", status}, {"reason", status == "ok" ? "" : "said so"}};
  if (peer_lost) result.record["peer_lost"] = true;
  return result;
}

WorkerReply ok(std::int64_t peak) {
  WorkerReply result = answer("ok", 9, 0);
  result.record["columns"] = {{"run_peak_allocated_bytes", peak}};
  return result;
}

Verdict verdict_of(const std::vector<WorkerReply>& replies) {
  return outcome_of_ranks(replies, catalog()).verdict;
}

TEST(RankOutcome, of_one_is_its_own) {
  EXPECT_EQ(verdict_of({reply(Ending::crashed, 1, 1)}), (Verdict{Status::crashed, "reason"}));
  EXPECT_TRUE(outcome_of_ranks({ok(1)}, catalog()).rank_records.empty());
}

TEST(RankOutcome, of_step_times_that_are_no_list_is_a_fault) {
  for (const Json& times : {Json(7), Json({{"a", 1}}), Json("1"), Json()}) {
    WorkerReply one = ok(1);
    one.record["step_time_ns"] = times;
    EXPECT_EQ(verdict_of({one}),
              (Verdict{Status::failed, "the worker's record has a step_time_ns that is no list"}))
        << times;
  }
}

TEST(RankOutcome, explains_the_first_of_the_largest_peaks) {
  const Outcome outcome = outcome_of_ranks({ok(5), ok(7), ok(7), ok(1)}, catalog());
  EXPECT_EQ(outcome.verdict, Verdict{});
  EXPECT_EQ(outcome.peak_rank, 1U);
  EXPECT_EQ(outcome.record, outcome.rank_records.at(1));
}

TEST(RankOutcome, is_that_of_the_gravest_end) {
  // From the gravest on; each is further ahead, and ended later, than all that come behind it, but
  // that no dismissed one is behind.
  const std::vector<std::pair<WorkerReply, Status>> ends = {
      {reply(Ending::timed_out, 9, 9), Status::timeout},
      {answer("out_of_memory", 8, 8), Status::out_of_memory},
      {reply(Ending::crashed, 7, 7), Status::crashed},
      {answer("inactive", 6, 6), Status::inactive},
      {answer("failed", 5, 5, /*peer_lost=*/true), Status::failed},
      {reply(Ending::dismissed, 9, 4), Status::failed},
      {answer("ok", 3, 3), Status::ok},
  };
  for (std::size_t i = 0; i < ends.size(); ++i) {
    for (std::size_t j = i + 1; j < ends.size(); ++j) {
      EXPECT_EQ(verdict_of({ends[i].first, ends[j].first}).status, ends[i].second) << i << " " << j;
      const Verdict turned = verdict_of({ends[j].first, ends[i].first});
      EXPECT_EQ(turned.status, ends[i].second) << i << " " << j;
      EXPECT_TRUE(turned.reason.starts_with("rank 1 of 2: ")) << turned.reason;
    }
  }
  EXPECT_EQ(verdict_of({reply(Ending::broken, 2, 2), answer("failed", 1, 1)}).reason,
            "rank 0 of 2: reason");
}

TEST(RankOutcome, is_that_of_the_rank_behind_then_of_the_first) {
  EXPECT_EQ(verdict_of({reply(Ending::crashed, 3, 1), reply(Ending::crashed, 2, 5)}).reason,
            "rank 1 of 2: reason");
  EXPECT_EQ(verdict_of({reply(Ending::crashed, 3, 5), reply(Ending::crashed, 3, 1)}).reason,
            "rank 1 of 2: reason");
  EXPECT_EQ(verdict_of({reply(Ending::crashed, 3, 1), reply(Ending::crashed, 3, 1)}).reason,
            "rank 0 of 2: reason");
}

// A launcher that loses one of its processes interrupts the others, which may be further behind.
TEST(RankOutcome, of_a_lost_rank_is_not_that_of_one_that_was_interrupted) {
  EXPECT_EQ(verdict_of({reply(Ending::interrupted, 1, 1), reply(Ending::lost, 5, 5)}).reason,
            "rank 1 of 2: reason");
}

TEST(RankOutcome, of_silence_names_the_rank_that_others_waited_for) {
  WorkerReply behind = reply(Ending::dismissed, 2, 9);
  behind.last.phase = "build";
  EXPECT_EQ(verdict_of({reply(Ending::timed_out, 5, 1), behind, reply(Ending::dismissed, 4, 9)}),
            (Verdict{Status::timeout,
                     "rank 1 of 3: behind the others in phase build; rank 0 of 3: reason"}));
  EXPECT_EQ(verdict_of({reply(Ending::timed_out, 5, 1), reply(Ending::dismissed, 5, 9)}).reason,
            "rank 0 of 2: reason");
}

TEST(RankOutcome, keeps_what_each_rank_gave) {
  const Outcome outcome = outcome_of_ranks(
      {answer("failed", 3, 3, /*peer_lost=*/true), reply(Ending::crashed, 3, 1)}, catalog());
  EXPECT_TRUE(outcome.record.is_null());
  EXPECT_FALSE(outcome.peak_rank);
  EXPECT_EQ(outcome.rank_records.at(0).at("peer_lost"), true);
  EXPECT_EQ(outcome.rank_records.at(1), (Json{{"status", "crashed"}, {"reason", "reason"}}));
}

TEST(RankOutcome, names_none_where_all_say_the_same) {
  EXPECT_EQ(verdict_of({answer("unsupported", 1, 1), answer("unsupported", 1, 2)}).reason,
            "said so");
  EXPECT_EQ(verdict_of({answer("unsupported", 1, 1), answer("failed", 1, 2)}).reason,
            "rank 0 of 2: said so");
}

}  // namespace
}  // namespace headroom
