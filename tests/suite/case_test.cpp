// SPDX-License-Identifier: Apache-2.0
#include "src/suite/case.h"

#include <gtest/gtest.h>

#include "tests/suite/test_catalog.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSuite = R"(
suite: s
source: a table
defaults:
  model: {name: vit, num_classes: 5}
cases:
  - name: vanilla
    published: {run_peak_reserved_bytes: 26790000000, samples_per_second: 1.5}
  - name: stacked
    techniques: [bfloat16, {gradient_accumulation: {micro_batches: 2}},
                 {mixed_precision: {dtype: float16}}]
    train: {batch_size: 64, tf32: true, optimizer: {lr: 5.0e-5}}
    data: {path: /tmp/x}
)";

TEST(Case, IsCompleteAndInTheCatalogsOrder) {
  const Suite suite = load_text(kSuite);
  EXPECT_EQ(suite.name, "s");
  EXPECT_EQ(suite.source, "a table");
  ASSERT_EQ(suite.cases.size(), 2u);
  EXPECT_EQ(suite.cases[0].to_json().dump(), Json::parse(R"(
    {"name": "vanilla", "ranks": 1, "model": {"name": "vit", "num_classes": 5, "patch": 16},
     "data": {"path": ""},
     "train": {"batch_size": 8, "seed": 1, "tf32": false,
               "optimizer": {"name": "adam", "lr": 0.001, "beta1": 0.9}},
     "limits": {"silence_s": 60}, "techniques": []})")
                                                 .dump());
  EXPECT_EQ(suite.cases[0].published.dump(),
            R"({"run_peak_reserved_bytes":26790000000,"samples_per_second":1.5})");
  EXPECT_EQ(suite.cases[1].techniques.dump(),
            R"([{"name":"bfloat16"},{"name":"gradient_accumulation","micro_batches":2},)"
            R"({"name":"mixed_precision","dtype":"float16"}])");
}

TEST(Case, FindsValuesByTheirPath) {
  const Case found = load_text(kSuite).cases[1];
  EXPECT_EQ(*found.find("train.batch_size"), 64);
  EXPECT_EQ(*found.find("train.optimizer.lr"), 5.0e-5);
  EXPECT_EQ(*found.find("data.path"), "/tmp/x");
  for (const char* path : {"train.x", "", "train.batch_size.x", "name"}) {
    EXPECT_EQ(found.find(path), nullptr) << path;
  }
}

TEST(Case, HasOneRankWhereNothingSaysMore) {
  Case one = load_text(kSuite).cases[0];
  EXPECT_EQ(one.ranks(), 1);
  one.fields.erase("ranks");  // the catalog has no such field
  EXPECT_EQ(one.ranks(), 1);
  EXPECT_EQ(load_text(kSuite, {"ranks=65536"}).cases[0].ranks(), 65536);
}

TEST(Case, WorkIsWhatIsMeasured) {
  const Case first = load_text(kSuite).cases[1];
  Case other = first;
  other.name = "renamed";
  other.published["run_peak_reserved_bytes"] = 1;
  EXPECT_EQ(other.work(), first.work());
  for (const char* key : {"ranks", "model", "data", "train", "limits", "techniques"}) {
    EXPECT_TRUE(first.work().contains(key)) << key;
  }
}

}  // namespace
}  // namespace headroom
