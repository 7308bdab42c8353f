// SPDX-License-Identifier: Apache-2.0
#include "src/programs/reserved_peak.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

Json peak() {
  return {{"reserved_bytes", 30},
          {"allocated_bytes", 17},
          {"waiting_bytes", 3},
          {"free",
           {{{"pool", "large"}, {"stream", 0}, {"bytes", 6}, {"pieces", 2}, {"largest_bytes", 5}},
            {{"pool", "small"}, {"stream", 7}, {"bytes", 4}, {"pieces", 1}, {"largest_bytes", 4}}}},
          {"asked_bytes", 9},
          {"asked_at", "a.py:1 f"},
          {"passed_over_bytes", 0},
          {"passed_over_pieces", 0},
          {"too_small_bytes", 6},
          {"too_small_pieces", 2},
          {"too_small_largest_bytes", 5},
          {"neighbours", {{{"line", "a.py:2 g"}, {"bytes", 4}, {"blocks", 1}}}}};
}

/// Whether a process that reserved 30 bytes and left this is explained by it.
bool explains(const std::string& text) {
  const TemporaryFolder folder;
  folder.write("7.2.reserved", text);
  DryReports reports;
  reports.whole.push_back({{"process", 7}, {"device", 2}, {"peak_reserved_bytes", 30}});
  add_reserved_peaks(reports, folder.path());
  return reports.whole[0].contains("reserved_peak");
}

bool explains_with(const std::function<void(Json&)>& change) {
  Json changed = peak();
  change(changed);
  return explains(changed.dump());
}

TEST(ReservedPeak, is_the_sum_of_what_is_allocated_waits_and_is_free) {
  EXPECT_TRUE(explains(peak().dump()));
  EXPECT_FALSE(explains_with([](Json& peak) { peak["allocated_bytes"] = 16; }));
  EXPECT_FALSE(explains_with([](Json& peak) { peak["free"][1]["bytes"] = 5; }));
  EXPECT_FALSE(explains_with([](Json& peak) {
    peak["reserved_bytes"] = 31;
    peak["waiting_bytes"] = 4;
  })) << "another peak than PyTorch's";
}

TEST(ReservedPeak, is_none_where_the_program_wrote_something_else) {
  for (const char* text : {"", "null", "[]", "{}", "30"}) EXPECT_FALSE(explains(text)) << text;
  EXPECT_FALSE(explains_with([](Json& peak) { peak.erase("asked_at"); }));
  EXPECT_FALSE(explains_with([](Json& peak) { peak["more"] = 1; }));
  EXPECT_FALSE(explains_with([](Json& peak) { peak["too_small_pieces"] = -1; }));
  EXPECT_FALSE(explains_with([](Json& peak) { peak["free"] = 10; }));
  EXPECT_FALSE(explains_with([](Json& peak) { peak["free"][0]["pool"] = 1; }));
  EXPECT_FALSE(explains_with([](Json& peak) { peak["neighbours"][0]["bytes"] = "4"; }));
  EXPECT_FALSE(explains_with([](Json& peak) {
    peak["allocated_bytes"] = 18446744073709551615u;
    peak["waiting_bytes"] = 21;
  })) << "it is no number of bytes";
}

}  // namespace
}  // namespace headroom
