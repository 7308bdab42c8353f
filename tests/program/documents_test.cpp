// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

}  // namespace
}  // namespace headroom
