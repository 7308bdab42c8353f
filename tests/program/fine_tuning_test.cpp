// SPDX-License-Identifier: Apache-2.0
// A training begins with weights that another one saved, and with a head of its own.
#include <gtest/gtest.h>

#include "tests/program/program.h"

namespace headroom {
namespace {

using Arguments = std::vector<std::string>;

std::vector<Cells> rows_of(const Arguments& arguments) {
  const TemporaryFolder folder;
  Arguments all{"run", "--out", folder / "out"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  run_headroom(all);
  return read_csv_rows(folder / "out");
}

/// One training for all tests, with fewer steps than the file asks for.
class FineTuning : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const std::vector<Cells> rows =
        rows_of({source("configs/pretraining.yaml"), "--only", "digits", "--set", "train.steps=30",
                 "--set", "train.save_weights=" + *folder_ / "saved"});
    ASSERT_EQ(rows.at(0).text("status"), "ok") << rows.at(0).text("reason");
    last_loss_ = rows.at(0).real("last_loss");
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::vector<Cells> fine_tuned(const std::string& cases, const Arguments& arguments = {}) {
    Arguments all{source("configs/fine_tuning.yaml"),
                  "--only",
                  "^(" + cases + ")@train.seed=1$",
                  "--set",
                  "train.steps=2",
                  "--set",
                  "model.weights=" + *folder_ / "saved/digits"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return rows_of(all);
  }

  static inline TemporaryFolder* folder_ = nullptr;
  static inline double last_loss_ = 0.0;
};

TEST_F(FineTuning, HasANewHeadUnderEveryTechnique) {
  const std::vector<Cells> rows = fine_tuned("vanilla|bfloat16|layer_streaming|optimizer_offload");
  ASSERT_EQ(rows.size(), 4u);
  const double first_loss = rows.front().real("first_loss");
  EXPECT_GT(first_loss, last_loss_ + 0.5);  // the head has yet to learn
  for (const Cells& row : rows) {
    EXPECT_EQ(row.text("status"), "ok") << row.text("case") << ": " << row.text("reason");
    EXPECT_NEAR(row.real("first_loss") / first_loss, 1.0, 0.01) << row.text("case");
  }
  const Cells whole = fine_tuned("vanilla", {"--set", "model.head=saved"}).at(0);
  EXPECT_NEAR(whole.real("first_loss"), last_loss_, 0.5);
}

TEST_F(FineTuning, TakesAHeadOfOtherClassesOnlyIfItMayBeNew) {
  const Arguments classes{"--set", "model.num_classes=12"};
  EXPECT_EQ(fine_tuned("vanilla", classes).at(0).text("status"), "ok");
  Arguments kept = classes;
  kept.insert(kept.end(), {"--set", "model.head=saved"});
  const Cells row = fine_tuned("vanilla", kept).at(0);
  EXPECT_NE(row.text("reason").find("'model.head: new'"), std::string::npos) << row.text("reason");
}

TEST_F(FineTuning, NeedsWeightsForANewHead) {
  const Cells row = fine_tuned("vanilla", {"--set", "model.weights="}).at(0);
  EXPECT_NE(row.text("reason").find("model.head: new goes with model.weights"), std::string::npos)
      << row.text("reason");
}

TEST(Novels, AreToldApartByASmallBert) {
  const Cells row = rows_of({source("configs/pretraining.yaml"), "--only", "novels", "--set",
                             "train.steps=80", "--set", "train.save_weights="})
                        .at(0);
  EXPECT_EQ(row.text("status"), "ok") << row.text("reason");
  // 570 passages of six novels, as many of each: a guess names 0.17 right, and five standard errors
  // of it are 0.08.
  EXPECT_GT(row.real("held_out_accuracy"), 0.4);
}

}  // namespace
}  // namespace headroom
