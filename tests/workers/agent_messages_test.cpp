// SPDX-License-Identifier: Apache-2.0
#include "src/workers/agent_messages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

const Launch kSixthOfEight{"srun", 8, 5, 1, std::nullopt, "node", 29500};

TEST(Hello, says_who_this_is) {
  setenv("OMP_NUM_THREADS", "3", 1);
  const Hello set = hello_of(kSixthOfEight, "headroom 1", "cafe");
  unsetenv("OMP_NUM_THREADS");
  const Hello unset = hello_of(kSixthOfEight, "headroom 1", "cafe");
  EXPECT_TRUE(set.sets_threads);
  EXPECT_FALSE(unset.sets_threads);
  EXPECT_EQ(unset.program, "headroom 1");
  EXPECT_EQ(unset.rank, 5);
  EXPECT_EQ(unset.ranks, 8);
  EXPECT_GE(unset.cores, 1);
  EXPECT_EQ(read_hello(to_text(unset)), unset);
  EXPECT_EQ(read_hello(to_text(set)), set);
}

TEST(Hello, that_is_malformed_is_none) {
  const Json good = Json::parse(to_text(hello_of(kSixthOfEight, "headroom 1", "cafe")));
  EXPECT_TRUE(read_hello(good.dump()));
  for (const char* text : {"", "{}", "[]", "null", "{\"rank\": 1}", "\xff\xfe", "{\"rank\""}) {
    EXPECT_FALSE(read_hello(text)) << text;
  }
  for (const auto& [key, value] : good.items()) {
    Json missing = good;
    missing.erase(key);
    // Versions of before say no worker: they are refused by their name.
    EXPECT_EQ(read_hello(missing.dump()).has_value(), key == "worker") << key;
    Json wrong = good;
    wrong[key] = Json::array({1});
    EXPECT_FALSE(read_hello(wrong.dump())) << key;
  }
  for (const char* key : {"program", "worker", "host", "core_set"}) {
    Json wrong = good;
    wrong[key] = std::string(256, 'x');
    EXPECT_FALSE(read_hello(wrong.dump())) << key;
    wrong[key] = "\x1b[2J";  // it would steer a terminal
    EXPECT_FALSE(read_hello(wrong.dump())) << key;
  }
}

Json request() {
  return {{"request", "measure"}, {"device", "cpu"}, {"case", {{"name", "a"}}}, {"rank", 3},
          {"ranks", 8},           {"nonce", "01"},   {"address", "10.0.0.5"}};
}

TEST(WorkOrder, is_carried_out_as_the_rank_that_the_launcher_made) {
  const auto order = read_order(to_text({request(), "4"}), kSixthOfEight);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->threads, "4");
  EXPECT_EQ(order->request.at("rank"), 5);
  EXPECT_EQ(order->request.at("local_rank"), 1);
  EXPECT_EQ(order->request.at("store"), (Json{{"host", "node"}, {"port", 29502}}));
  EXPECT_EQ(order->request.at("case"), request().at("case"));
}

TEST(WorkOrder, is_none_where_it_is_more_than_a_measurement) {
  const auto refused = [](const Json& request, const std::string& threads = "") {
    return !read_order(to_text({request, threads}), kSixthOfEight);
  };
  EXPECT_FALSE(refused(request()));
  for (const char* kind : {"forward", "inspect", "doctor", ""}) {
    Json other = request();
    other["request"] = kind;
    EXPECT_TRUE(refused(other)) << kind;
  }
  for (const char* key : {"snapshot", "output", "store", "environment", "worker", "planned"}) {
    Json more = request();
    more[key] = "/tmp/x";
    EXPECT_TRUE(refused(more)) << key;
  }
  for (const char* threads : {"0", "-1", "x", "1;ls", " 1", "65537", "99999999999999999999"}) {
    EXPECT_TRUE(refused(request(), threads)) << threads;
  }
}

TEST(WorkOrder, that_is_malformed_is_none) {
  for (const char* text :
       {"", "{}", "[]", "null", "\xff", "{\"request\": 1, \"threads\": \"\"}",
        "{\"request\": {}, \"threads\": 1}", "{\"request\": [\"measure\"], \"threads\": \"\"}",
        "{\"request\": {\"request\": \"measure\"}}"}) {
    EXPECT_FALSE(read_order(text, kSixthOfEight)) << text;
  }
}

TEST(WorkerEnd, is_told_as_it_was) {
  for (const WorkerEnd& end :
       {WorkerEnd{}, WorkerEnd{{3, 0}}, WorkerEnd{{0, 11}}, WorkerEnd{{0, 9}, true}}) {
    EXPECT_EQ(read_worker_end(to_text(end)), end);
  }
}

TEST(WorkerEnd, that_is_malformed_is_none) {
  for (const char* text : {"", "{}", "7", "\xff", R"({"exit_status": 0, "signal": 0})",
                           R"({"exit_status": "0", "signal": 0, "killed_for_memory": false})",
                           R"({"exit_status": 256, "signal": 0, "killed_for_memory": false})",
                           R"({"exit_status": 0, "signal": -1, "killed_for_memory": false})",
                           R"({"exit_status": 0, "signal": 65, "killed_for_memory": false})",
                           R"({"exit_status": 0, "signal": 0, "killed_for_memory": 1})"}) {
    EXPECT_FALSE(read_worker_end(text)) << text;
  }
}

}  // namespace
}  // namespace headroom
