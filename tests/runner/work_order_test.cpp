// SPDX-License-Identifier: Apache-2.0
#include "src/runner/work_order.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

const Launch kLaunch{"srun", 8, 5, 1, std::nullopt, "node", 29500};

Json request() {
  return {{"request", "measure"}, {"device", "cpu"}, {"case", {{"name", "a"}}}, {"rank", 3},
          {"ranks", 8},           {"nonce", "01"},   {"address", "10.0.0.5"}};
}

TEST(WorkOrder, is_carried_out_as_the_rank_that_the_launcher_made) {
  const auto order = read_order(to_text({request(), "4"}), kLaunch);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->threads, "4");
  EXPECT_EQ(order->request.at("rank"), 5);
  EXPECT_EQ(order->request.at("local_rank"), 1);
  EXPECT_EQ(order->request.at("store"), (Json{{"host", "node"}, {"port", 29502}}));
  EXPECT_EQ(order->request.at("case"), request().at("case"));
}

TEST(WorkOrder, is_none_where_it_is_more_than_a_measurement) {
  const auto refused = [](const Json& request, const std::string& threads = "") {
    return !read_order(to_text({request, threads}), kLaunch);
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

TEST(WorkOrder, of_a_stranger_is_none) {
  for (const char* text :
       {"", "{}", "[]", "null", "\xff", "{\"request\": 1, \"threads\": \"\"}",
        "{\"request\": {}, \"threads\": 1}", "{\"request\": [\"measure\"], \"threads\": \"\"}",
        "{\"request\": {\"request\": \"measure\"}}"}) {
    EXPECT_FALSE(read_order(text, kLaunch)) << text;
  }
}

}  // namespace
}  // namespace headroom
