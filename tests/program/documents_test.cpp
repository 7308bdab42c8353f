// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "src/report/report_page.h"
#include "tests/program/program.h"

namespace headroom {
namespace {

TEST(Documents, MeasuringExplainsEveryColumn) {
  const std::string text = read_text(source("docs/measuring.md"));
  const Ended ended = run_headroom({"list", "columns", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const auto& column : nlohmann::json::parse(ended.out)) {
    const std::string name = column.at("name");
    EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name;
  }
}

TEST(Documents, ReadmeNamesEveryTechniqueAndModel) {
  const std::string text = read_text(source("README.md"));
  for (const std::string list : {"techniques", "models", "data"}) {
    const Ended ended = run_headroom({"list", list, "--json"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    for (const auto& entry : nlohmann::json::parse(ended.out)) {
      const std::string name = entry.at("name");
      EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name;
    }
  }
}

TEST(Documents, ReportShowsEveryColumnOfWhereFiguresWereMade) {
  const Ended ended = run_headroom({"list", "columns", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  Row row = {{"status", "ok"}, {"run_peak_allocated_bytes", 100}};
  std::vector<std::string> values;
  for (const auto& column : nlohmann::json::parse(ended.out)) {
    const std::string name = column.at("name");
    if (column.at("group") != "provenance") continue;
    values.push_back("the value of " + name);
    row[name] = values.back();
  }
  ASSERT_FALSE(values.empty());
  const nlohmann::ordered_json header = {
      {"suite", "s"}, {"kind", "measured"}, {"device", "cpu"}, {"libtorch", "2"}};
  const std::string html =
      html_report({{"out/journal.jsonl", header, {{.name = "a", .row = row}}, {}}});
  for (const std::string& value : values) EXPECT_NE(html.find(value), std::string::npos) << value;
}

}  // namespace
}  // namespace headroom
