// SPDX-License-Identifier: Apache-2.0
// What the real program writes keeps the rules it is verified by.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/program/program.h"

namespace headroom {
namespace {

using Json = nlohmann::json;

const std::string kVerifiedSuite =
    "suite: small\n"
    "defaults:\n"
    "  data: {name: digits, image_size: 32}\n"
    "  train: {batch_size: 4, steps: 5, warmup_steps: 2, held_out_samples: 8}\n"
    "groups:\n"
    "  - {name: vit, model: {name: vit_ti_16}}\n"
    "cases:\n"
    "  - {name: plain, published: {run_peak_allocated_bytes: 100000000}}\n"
    "  - {name: checkpointing, techniques: [activation_checkpointing]}\n"
    "  - {name: impossible, techniques: [mixed_precision, bfloat16]}\n"
    "  - {name: large, train: {batch_size: 512}, limits: {memory_bytes: 150000000}}\n"
    "  - {name: ranks, ranks: 2, techniques: [fsdp]}\n";

/// The rules that results break, besides those of a machine that is busy with other tests and of a
/// tree that is being worked on.
std::set<std::string> broken_rules(const std::string& folder) {
  const Ended ended = run_headroom({"verify", folder, "--json"});
  const Json verification = Json::parse(ended.out);
  EXPECT_EQ(verification.at("rows"), 5) << ended.err;
  std::set<std::string> rules;
  for (const Json& finding : verification.at("findings")) rules.insert(finding.at("rule"));
  EXPECT_EQ(ended.code, rules.empty() ? 0 : 1) << ended.out;
  for (const char* rule : {"commit", "other_load"}) rules.erase(rule);
  return rules;
}

TEST(Verify, AcceptsWhatIsMeasured) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kVerifiedSuite);
  const Ended ended = run_headroom({"run", suite, "--device", "cpu", "--out", folder / "out"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(broken_rules(folder / "out"), std::set<std::string>{});

  const std::string csv = read_text(folder / "out/results.csv");
  std::string edited = csv;
  edited.replace(edited.find("100000000"), 1, "2");
  folder.write("out/results.csv", edited);
  const Ended refused = run_headroom({"verify", folder / "out"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.out.find(folder / "out/results.csv:2:"), std::string::npos) << refused.out;
  EXPECT_NE(refused.out.find("is '200000000'; the journal says '100000000' (csv)\n"),
            std::string::npos)
      << refused.out;
}

TEST(Verify, AcceptsWhatIsPlanned) {
  if (!std::filesystem::exists(HEADROOM_BUILD_DIR "/dry_run")) {
    GTEST_SKIP() << "a LibTorch without CUDA plans nothing";
  }
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kVerifiedSuite);
  for (const std::string memory : {"16GiB", "600MiB"}) {
    const std::string out = folder / memory;
    const Ended ended = run_headroom(
        {"plan", suite, "--gpu", "h100", "--gpu-memory", memory, "--jobs", "2", "--out", out});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(broken_rules(out), std::set<std::string>{}) << memory;
  }
}

TEST(Verify, SaysWhereThereAreNoResults) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_headroom({"verify", folder / "nothing"}).code, 2);
  EXPECT_EQ(run_headroom({"verify", folder.path()}).code, 2);
}

}  // namespace
}  // namespace headroom
