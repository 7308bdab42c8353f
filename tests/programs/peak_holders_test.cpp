// SPDX-License-Identifier: Apache-2.0
#include "src/programs/peak_holders.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// What is known of a process whose peak is 30 bytes, where it left `text` as what holds it.
Json holders_of(const std::string& text) {
  const TemporaryFolder folder;
  folder.write("7.2.holders", text);
  DryReports reports;
  reports.whole.push_back({{"process", 7}, {"device", 2}, {"peak_allocated_bytes", 30}});
  add_holders(reports, folder.path());
  return reports.whole[0].value("holders", Json());
}

std::string holder(const std::string& bytes, const std::string& more = "") {
  return R"({"kind": "forward", "line": "a.py:1 f", "bytes": )" + bytes + R"(, "blocks": 1)" +
         more + "}";
}

TEST(PeakHolders, AreThoseWhoseSumIsThePeak) {
  const Json known = holders_of("[" + holder("10") + ", " + holder("20") + "]");
  ASSERT_EQ(known.size(), 2U);
  EXPECT_EQ(known[1]["bytes"], 20);
  EXPECT_TRUE(holders_of("[" + holder("10") + ", " + holder("21") + "]").is_null());
}

TEST(PeakHolders, AreNoneWhereTheProgramWroteSomethingElse) {
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("{}"), std::string("[30]"),
        "[" + holder("30.0") + "]", "[" + holder("\"30\"") + "]",
        "[" + holder("-5") + ", " + holder("35") + "]", "[" + holder("30", R"(, "more": 1)") + "]",
        "[" + holder("30"),
        "[" + holder("9223372036854775807") + ", " + holder("9223372036854775807") + "]"}) {
    EXPECT_TRUE(holders_of(text).is_null()) << text;
  }
  DryReports none;
  none.whole.push_back({{"process", 7}, {"device", 2}, {"peak_allocated_bytes", 30}});
  add_holders(none, "/no/such/folder");
  EXPECT_FALSE(none.whole[0].contains("holders"));
}

}  // namespace
}  // namespace headroom
