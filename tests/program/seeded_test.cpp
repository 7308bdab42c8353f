// SPDX-License-Identifier: Apache-2.0
// What makes a training worse is found by comparison and gate, and named.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace headroom {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kSteps = 6;  // one to warm up, one that is counted, four timed ones
// Of what enters a block: 4 images of 4 patches and a class token, 192 wide, float32.
constexpr std::int64_t kBlockInputBytes = 4 * 5 * 192 * 4;

const std::string kSeededPlainSuite =
    "suite: seeded\n"
    "defaults:\n"
    "  model: {name: vit_ti_16}\n"
    "  data: {name: digits, image_size: 32}\n"
    "  train: {batch_size: 4, steps: 4, warmup_steps: 1, held_out_samples: 0}\n"
    "cases:\n"
    "  - {name: plain}\n";
const std::string kSeededSuite =
    kSeededPlainSuite + "  - {name: in_backward, techniques: [optimizer_in_backward]}\n";

/// One side is measured well, the other with a seed.
class Seeded : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared = std::make_unique<TemporaryFolder>();
    measure("old/00", "");
  }
  static void TearDownTestSuite() { shared.reset(); }

  void TearDown() override { std::filesystem::remove_all(*shared / "new"); }

  static std::string script(const std::string& name, const std::string& text) {
    const std::string path = shared->write(name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  /// A worker with that seed.
  static std::string worker_with(const std::string& seed) {
    return script("worker_" + seed,
                  "export HEADROOM_SEED=" + seed +
                      "\nLD_PRELOAD=" HEADROOM_BUILD_DIR
                      "/tests/program/libheadroom_seeds.so exec " HEADROOM_BUILD_DIR
                      "/headroom-worker \"$@\"\n");
  }

  static void measure(const std::string& side, const std::string& seed,
                      const std::string& suite = kSeededSuite) {
    const std::string worker = worker_with(seed);
    const Ended ended = Program("headroom",
                                {"run", shared->write("suite.yaml", suite), "--device", "cpu",
                                 "--out", *shared / side},
                                [&] { setenv("HEADROOM_WORKER", worker.c_str(), 1); })
                            .wait();
    ASSERT_TRUE(ended.code == 0 || ended.code == 1 || ended.code == 4) << ended.err;
  }

  /// What `compare` says of a case, once the new side is measured.
  static Json change_of(const std::string& name) {
    const Ended ended =
        run_headroom({"compare", *shared / "old/00", *shared / "new/00", "--format", "json"});
    EXPECT_EQ(ended.code, 1) << ended.err;
    const Json comparison = Json::parse(ended.out);
    for (const Json& one : comparison.at("cases")) {
      if (one.at("case") == name) return one;
    }
    ADD_FAILURE() << "no case " << name << " in " << ended.out;
    return {};
  }

  static Ended gate() {
    return run_headroom({"gate", shared->path(), "--history", *shared / "history.db"});
  }

  /// That the gate is red, and for what reason.
  static void expect_red(const std::string& reason) {
    const Ended ended = gate();
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_NE(ended.out.find(reason), std::string::npos) << ended.out;
    EXPECT_TRUE(ended.out.ends_with("\nred\n")) << ended.out;
  }

  static inline std::unique_ptr<TemporaryFolder> shared;
};

TEST_F(Seeded, NothingIsNotRed) {
  measure("new/00", "");
  EXPECT_EQ(gate().code, 0);
}

TEST_F(Seeded, OneMoreLiveTensorInABlock) {
  measure("new/00", "live_tensor");
  const Json growth = change_of("plain").at("growth");
  ASSERT_EQ(growth.size(), 1U) << growth;
  EXPECT_EQ(growth[0].at("blocks"), Json::array({1}));
  EXPECT_EQ(growth[0].at("phase"), "forward");
  EXPECT_EQ(growth[0].at("operator"), "aten::clone");
  EXPECT_EQ(growth[0].at("count"), 1);
  EXPECT_EQ(growth[0].at("bytes"), kBlockInputBytes);
  expect_red("run_peak_allocated_bytes +15.00 KiB");
}

// As a maintainer of a framework has it: two builds, of which one is worse.
TEST_F(Seeded, OneMoreLiveTensorInTheNewOfTwoBuilds) {
  const auto build = [](const std::string& seed) {
    return script("headroom_" + seed, "HEADROOM_WORKER=" + worker_with(seed) +
                                          " exec " HEADROOM_BUILD_DIR "/headroom \"$@\"\n");
  };
  // A night of bytes: whatever a neighbour of this machine does to times, no rerun is needed.
  std::string suite = kSeededPlainSuite;
  suite.insert(suite.find("cases:"), "  gate: {time_percent: 100}\n");
  const Ended ended =
      run_headroom({"nightly", build(""), build("live_tensor"), shared->write("night.yaml", suite),
                    "--history", *shared / "nights.jsonl", "--out", *shared / "new/night"});
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_NE(ended.out.find("temporary +15.00 KiB: 1 more of 15.00 KiB in block 1, made in forward, "
                           "aten::clone"),
            std::string::npos)
      << ended.out;
  EXPECT_TRUE(ended.out.ends_with("\nred\n")) << ended.out;
}

TEST_F(Seeded, ACopyThatIsNotFreed) {
  measure("new/00", "leak");
  const Json growth = change_of("plain").at("growth");
  std::int64_t copies = 0;  // those of timed steps don't name their operator
  for (const Json& one : growth) {
    EXPECT_EQ(one.at("blocks"), Json::array({1})) << growth;
    EXPECT_EQ(one.at("phase"), "forward");
    EXPECT_EQ(one.at("tensor_bytes"), kBlockInputBytes);
    copies += one.at("count").get<std::int64_t>();
  }
  EXPECT_EQ(copies, kSteps);  // one of each
  expect_red("run_peak_allocated_bytes +90.00 KiB");
}

TEST_F(Seeded, ATechniqueThatDoesNothing) {
  measure("new/00", "no_hooks");
  const Json change = change_of("in_backward");
  EXPECT_EQ(change.at("new_status"), "inactive");
  EXPECT_EQ(change.at("trend"), "worse");
  expect_red("inactive");
}

TEST_F(Seeded, ACrash) {
  measure("new/00", "crash");
  EXPECT_EQ(change_of("plain").at("new_status"), "crashed");
  expect_red("crashed");
}

TEST_F(Seeded, MemoryOfTheHostThatEnds) {
  measure("new/00", "no_host_memory");
  for (const Cells& row : read_csv_rows(*shared / "new/00")) {
    EXPECT_EQ(row.text("status"), "out_of_memory");
    EXPECT_EQ(row.text("reason"), "host: the system gives no more memory");
  }
  expect_red("out_of_memory");
}

TEST_F(Seeded, ACaseThatVanishes) {
  measure("new/00", "", kSeededPlainSuite);
  EXPECT_EQ(change_of("in_backward").at("trend"), "worse");
  expect_red("vanished");
}

}  // namespace
}  // namespace headroom
