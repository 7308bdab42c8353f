// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/program/program.h"

namespace headroom {
namespace {

TEST(Suites, AreAllAcceptedWithTheRealCatalog) {
  int suites = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source("configs"))) {
    const Ended ended = run_headroom({"run", entry.path(), "--list-cases"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    ++suites;
  }
  EXPECT_GE(suites, 5);
}

TEST(Suites, SayWhereTheyAreWrongAndWhatIsAllowed) {
  const TemporaryFolder folder;
  const std::string path = folder.write("wrong.yaml",
                                        "suite: wrong\n"
                                        "defaults:\n"
                                        "  model: {name: vit_ti_16}\n"
                                        "  data: {name: digits}\n"
                                        "cases:\n"
                                        "  - name: one\n"
                                        "    train: {batchsize: 4}\n");
  const Ended ended = run_headroom({"run", path});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find(path + ":7:13"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("batch_size"), std::string::npos) << ended.err;
}

TEST(Suites, AnswerExcludedTechniquesWithARow) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("excluded.yaml",
                   "suite: excluded\n"
                   "defaults: {model: {name: vit_ti_16}, data: {name: digits, image_size: 32}}\n"
                   "cases:\n"
                   "  - {name: both, techniques: [mixed_precision, bfloat16]}\n"
                   "  - {name: attention, model: {attention: cudnn}}\n");
  const Ended ended = run_headroom({"run", path, "--device", "cpu", "--out", folder / "out"});
  EXPECT_EQ(ended.code, 4) << ended.err;  // nothing could be run
  for (const Cells& row : read_csv_rows(folder / "out")) {
    EXPECT_EQ(row.text("status"), "unsupported");
    EXPECT_FALSE(row.text("reason").empty());
    EXPECT_TRUE(row.text("run_peak_allocated_bytes").empty());
  }
}

}  // namespace
}  // namespace headroom
