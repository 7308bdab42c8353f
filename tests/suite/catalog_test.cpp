// SPDX-License-Identifier: Apache-2.0
#include "src/suite/catalog.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/suite/test_catalog.h"

namespace headroom {
namespace {

TEST(Catalog, HoldsWhatTheWorkerPrinted) {
  const Catalog& catalog = test_catalog();
  EXPECT_EQ(catalog.libtorch, "2.11.0");
  EXPECT_TRUE(catalog.cuda_built);
  EXPECT_EQ(catalog.commit, "abc123");
  ASSERT_EQ(catalog.case_fields.size(), 6u);  // five of the worker, and `gate`
  const TechniqueInfo* technique = catalog.find_technique("gradient_accumulation");
  ASSERT_NE(technique, nullptr);
  EXPECT_EQ(technique->excludes, std::vector<std::string>{"bfloat16"});
  EXPECT_EQ(technique->loss_tolerance, 0.001);
  EXPECT_FALSE(technique->joins_ranks);
  EXPECT_TRUE(catalog.find_technique("ddp")->joins_ranks);
  EXPECT_EQ(technique->fields.at(0).integers.max, 64);
  EXPECT_EQ(catalog.find_technique("nothing"), nullptr);
  EXPECT_EQ(catalog.find_column("batch_size")->origin, "case:train.batch_size");
  EXPECT_EQ(catalog.find_column("status")->type, ColumnType::text);
  EXPECT_EQ(catalog.find_column("status")->across_ranks, AcrossRanks::peak_rank);
  EXPECT_EQ(catalog.find_column("step_time_median_ns")->across_ranks, AcrossRanks::largest);
  EXPECT_EQ(catalog.find_column("nothing"), nullptr);
}

TEST(Catalog, FindsFieldsByTheirPath) {
  const Field* field = test_catalog().find_case_field("train.optimizer.lr");
  ASSERT_NE(field, nullptr);
  EXPECT_EQ(field->type, FieldType::number);
  EXPECT_EQ(field->numbers.max, 10.0);
  EXPECT_EQ(field->default_value, 0.001);
  const Field* momentum = test_catalog().find_case_field("train.optimizer.momentum");
  EXPECT_TRUE(momentum->applies_to("sgd"));
  EXPECT_FALSE(momentum->applies_to("adam"));
  EXPECT_TRUE(test_catalog().find_case_field("model.name")->required);
  EXPECT_EQ(test_catalog().find_case_field("model.name")->choices.at(1).summary, "a text model");
  for (const char* path : {"", "train.", ".train", "train.x", "train.seed.x", "trainseed"}) {
    EXPECT_EQ(test_catalog().find_case_field(path), nullptr) << path;
  }
}

TEST(Catalog, RefusesWhatIsNone) {
  for (const char* json :
       {"", "[]", "{}", R"({"case": [], "techniques": []})",
        R"({"case": [{"name": "x", "type": "integer", "summary": ""}],
            "techniques": [], "columns": []})",
        R"({"case": [], "techniques": [], "columns": [{"name": "x", "type": "integer",
            "summary": "", "origin": "worker", "across_ranks": "sum"}]})",
        R"({"case": [], "techniques": [], "columns": [{"name": "x", "type": "text",
            "summary": "", "origin": "worker", "across_ranks": "largest"}]})",
        R"({"case": [{"name": "x", "type": "tensor", "summary": ""}],
            "techniques": [], "columns": []})",
        R"({"case": [{"name": "x", "type": "object", "summary": "", "fields": [
            {"name": "y", "type": "integer", "summary": ""}]}],
            "techniques": [], "columns": []})"}) {
    EXPECT_THROW(parse_catalog(json), std::invalid_argument) << json;
  }
}

}  // namespace
}  // namespace headroom
