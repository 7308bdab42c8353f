// SPDX-License-Identifier: Apache-2.0
#include "src/runner/hello.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

const Launch kLaunch{"srun", 8, 5, 1, std::nullopt, "node", 29500};

TEST(Hello, says_who_this_is) {
  setenv("OMP_NUM_THREADS", "3", 1);
  const Hello set = hello_of(kLaunch, "headroom 1");
  unsetenv("OMP_NUM_THREADS");
  const Hello unset = hello_of(kLaunch, "headroom 1");
  EXPECT_TRUE(set.sets_threads);
  EXPECT_FALSE(unset.sets_threads);
  EXPECT_EQ(unset.program, "headroom 1");
  EXPECT_EQ(unset.rank, 5);
  EXPECT_EQ(unset.ranks, 8);
  EXPECT_GE(unset.cores, 1);
  EXPECT_EQ(read_hello(to_text(unset)), unset);
  EXPECT_EQ(read_hello(to_text(set)), set);
}

TEST(Hello, of_a_stranger_is_none) {
  const Json good = Json::parse(to_text(hello_of(kLaunch, "headroom 1")));
  EXPECT_TRUE(read_hello(good.dump()));
  for (const char* text : {"", "{}", "[]", "null", "{\"rank\": 1}", "\xff\xfe", "{\"rank\""}) {
    EXPECT_FALSE(read_hello(text)) << text;
  }
  for (const auto& [key, value] : good.items()) {
    Json missing = good;
    missing.erase(key);
    EXPECT_FALSE(read_hello(missing.dump())) << key;
    Json wrong = good;
    wrong[key] = Json::array({1});
    EXPECT_FALSE(read_hello(wrong.dump())) << key;
  }
  for (const char* key : {"program", "host", "core_set"}) {
    Json wrong = good;
    wrong[key] = std::string(256, 'x');
    EXPECT_FALSE(read_hello(wrong.dump())) << key;
    wrong[key] = "\x1b[2J";  // it would steer a terminal
    EXPECT_FALSE(read_hello(wrong.dump())) << key;
  }
}

}  // namespace
}  // namespace headroom
