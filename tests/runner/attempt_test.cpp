// SPDX-License-Identifier: Apache-2.0
#include "src/runner/attempt.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/runner/test_request.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

Json body_of(int ranks, const std::string& technique) {
  const Catalog catalog = parse_catalog(R"({"case": [], "columns": [], "techniques": [
    {"name": "ddp", "summary": "", "fields": [], "joins_ranks": true},
    {"name": "other", "summary": "", "fields": []}]})");
  Case one;
  one.name = "a";
  one.fields = {{"ranks", ranks}, {"limits", {{"case_s", 7}, {"silence_s", 5}}}};
  one.techniques = Json::array({{{"name", technique}}});
  const WorkerRequest request = measure_request("worker", "cuda", one, catalog, 2);
  EXPECT_EQ(request.silence, std::chrono::seconds(5));
  EXPECT_EQ(request.total, std::chrono::seconds(7));
  EXPECT_EQ(request.body.at("case"), one.to_json());
  return request.body;
}

TEST(MeasureRequest, is_to_rank_0_where_ranks_are_joined) {
  for (const int ranks : {1, 4}) {
    const Json body = body_of(ranks, "ddp");
    EXPECT_EQ(body.at("rank"), 0);
    EXPECT_EQ(body.at("ranks"), ranks);
    EXPECT_FALSE(body.contains("store"));  // as a plan takes it
  }
}

TEST(MeasureRequest, says_nothing_of_ranks_where_none_are_joined) {
  const Json body = body_of(1, "other");
  for (const char* key : {"rank", "ranks", "store"}) EXPECT_FALSE(body.contains(key)) << key;
}

// The other answers seconds before.
TEST(AnsweredRank, that_another_s_fault_ended_is_not_blamed_for_its_end) {
  Interrupts interrupts;
  const auto replies =
      call_workers({test_request("out_of_memory", 3000), test_request("late_hang")}, interrupts,
                   [](const WorkerProgress&) {});
  EXPECT_EQ(replies.at(0).record.at("status"), "out_of_memory");
  EXPECT_EQ(replies.at(1).ending, WorkerReply::Ending::answered);
  EXPECT_EQ(replies.at(1).exit.signal, SIGKILL);
  EXPECT_EQ(replies.at(1).reason, "");
}

}  // namespace
}  // namespace headroom
