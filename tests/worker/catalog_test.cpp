// SPDX-License-Identifier: Apache-2.0
#include "src/worker/case.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/table.h"
#include "src/results/columns.h"
#include "techniques/technique.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> names_in(const Json& list) {
  std::vector<std::string> names;
  for (const Json& entry : list) names.push_back(entry.at("name").get<std::string>());
  return names;
}

template <class Table>
std::vector<std::string> names_in_table(const Table& table) {
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  return names;
}

TEST(CatalogTest, HoldsEveryRowOfTheTables) {
  const Json catalog = Json::parse(make_catalog().dump());
  EXPECT_EQ(names_in(catalog.at("models")), names_in_table(model_table()));
  EXPECT_EQ(names_in(catalog.at("techniques")), names_in_table(technique_table()));
  EXPECT_EQ(names_in(catalog.at("columns")), names_in_table(kColumns));
  EXPECT_EQ(names_in(catalog.at("case")),
            (std::vector<std::string>{"ranks", "model", "data", "train", "allocator", "limits"}));
}

TEST(CatalogTest, EveryColumnThatCopiesTheCaseNamesAFieldOfIt) {
  const Json catalog = make_catalog();
  for (const ColumnEntry& column : kColumns) {
    if (!column.origin.starts_with("case:")) continue;
    const std::string path(column.origin.substr(5));
    const auto dot = path.find('.');
    bool found = false;
    for (const Json& section : catalog.at("case")) {
      if (section.at("name") != path.substr(0, dot)) continue;
      for (const std::string& name : names_in(section.at("fields"))) {
        found = found || name == path.substr(dot + 1);
      }
    }
    EXPECT_TRUE(found) << path;
  }
}

}  // namespace
}  // namespace headroom
