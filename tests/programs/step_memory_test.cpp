// SPDX-License-Identifier: Apache-2.0
#include "src/programs/step_memory.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// What is known of a process whose peak is 30 bytes, where it left `text` as its step.
Json step_of(const std::string& text) {
  const TemporaryFolder folder;
  folder.write("7.2.course", text);
  DryReports reports;
  reports.whole.push_back({{"process", 7}, {"device", 2}, {"peak_allocated_bytes", 30}});
  add_step_memory(reports, folder.path());
  return reports.whole[0].value("step_memory", Json());
}

TEST(StepMemory, is_that_of_the_peak) {
  const std::string step = R"([["forward", null, 10], ["backward", null, 30]])";
  EXPECT_EQ(step_of(step), Json::parse(step));
  EXPECT_TRUE(step_of(R"([["forward", null, 10], ["backward", null, 31]])").is_null());
}

TEST(StepMemory, is_none_where_the_program_wrote_something_else) {
  for (const char* text :
       {"", "null", "{}", "[]", "[30]", R"([["forward", 30]])", R"([["forward", 1, 30]])",
        R"([[1, null, 30]])", R"([["forward", null, 30.0]])", R"([["forward", null, "30"]])",
        R"([["forward", null, 30], ["forward", null, -1]])",
        R"([["forward", null, 30], ["forward", null, 18446744073709551615]])"}) {
    EXPECT_TRUE(step_of(text).is_null()) << text;
  }
  std::string many = R"([["forward", null, 30])";
  for (int i = 0; i < 1000; ++i) many += R"(, ["forward", null, 1])";
  EXPECT_TRUE(step_of(many + "]").is_null());
}

}  // namespace
}  // namespace headroom
