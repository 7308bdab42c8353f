// SPDX-License-Identifier: Apache-2.0
// Plans of programs of LibTorch, of which the worker is one.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// A program of LibTorch: the worker, which reads its request from standard input.
std::string worker_command(const TemporaryFolder& folder, int steps) {
  Json request = Json::parse(R"({"request": "measure", "nonce": "a", "device": "cuda",
          "planned": true, "case": {"name": "one",
          "model": {"name": "vit_ti_16", "attention": "efficient"},
          "data": {"name": "digits", "image_size": 64},
          "train": {"batch_size": 8, "warmup_steps": 1}, "limits": {}, "techniques": []}})");
  request["case"]["train"]["steps"] = steps;
  return HEADROOM_BUILD_DIR "/headroom-worker < " + folder.write("request.json", request.dump());
}

TEST(PlanOfAProgram, RunsAnyProgramOfLibTorch) {
  const TemporaryFolder folder;
  const std::string command = worker_command(folder, 1) + " 3> " + folder / "answer";
  const Ended ended = run_headroom({"plan", "--gpu", "l4", "--json", "--", "sh", "-c", command});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json answer = Json::parse(ended.out);
  ASSERT_EQ(answer["processes"].size(), 1u) << ended.out;
  const Json& process = answer["processes"][0];
  EXPECT_EQ(answer["fits"], true);
  EXPECT_EQ(process["gpu"], "l4");
  // The program itself says what its allocator counted.
  const std::string said = read_text(folder / "answer");
  const Json record = Json::parse(said.substr(said.rfind("{\"event\":\"record\"")))["record"];
  EXPECT_EQ(process["driver_peak_bytes"].get<std::int64_t>() -
                process["context_bytes"].get<std::int64_t>(),
            record["columns"]["run_peak_reserved_bytes"]);
}

TEST(PlanOfAProgram, TellsWhatAProcessTookThatWasKilled) {
  const TemporaryFolder folder;
  const Ended killed =
      run_headroom({"plan", "--json", "--", "sh", "-c",
                    worker_command(folder, 1000) + " 3>&1 > /dev/null | grep -q -m 1 timing"});
  EXPECT_EQ(killed.code, 0) << killed.err;
  const Json answer = Json::parse(killed.out);
  ASSERT_EQ(answer["processes"].size(), 1u) << killed.out;
  const Json& process = answer["processes"][0];
  EXPECT_EQ(process["ended_by_itself"], false);
  EXPECT_GT(process["peak_allocated_bytes"], 1'000'000);
  EXPECT_GE(process["peak_reserved_bytes"], process["peak_allocated_bytes"]);
}

TEST(PlanOfAProgram, EndsAProcessThatCanNotReport) {
  const TemporaryFolder folder;
  const std::string nowhere = "export HEADROOM_DRY_RUN_REPORT=/no/where; ";
  const Ended homeless = run_headroom(
      {"plan", "--", "sh", "-c", nowhere + worker_command(folder, 1) + " 3> /dev/null"});
  EXPECT_EQ(homeless.code, 1);  // as of any program that fails
  EXPECT_NE(homeless.err.find("can't be written: No such file or directory"), std::string::npos)
      << homeless.err;

  const std::string disk = folder / "disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4k") != 0) {
    GTEST_SKIP() << "no file system can be mounted here";
  }
  std::ofstream(disk + "/full") << std::string(4096, 'x');
  const std::string command = worker_command(folder, 1) + " 3> " + folder / "answer";
  Program program("headroom", {"plan", "--", "sh", "-c", command},
                  [&] { setenv("TMPDIR", disk.c_str(), 1); });
  const Ended full = program.wait();
  umount(disk.c_str());
  EXPECT_EQ(full.code, 4);
  EXPECT_NE(full.err.find("No space left on device"), std::string::npos) << full.err;
}

TEST(PlanOfAProgram, RefusesOptionsOfSuites) {
  for (const std::string option : {"--resume", "--only=x", "--set=train.batch_size=2"}) {
    const Ended refused = run_headroom({"plan", option, "--", "true"});
    EXPECT_EQ(refused.code, 2) << option;
    EXPECT_NE(refused.err.find(option.substr(0, option.find('=')) + " is for suites"),
              std::string::npos)
        << refused.err;
  }
  const Ended nowhere = run_headroom({"plan", "--snapshot", "--", "true"});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_NE(nowhere.err.find("--snapshot: in which results folder?"), std::string::npos);
}

TEST(PlanOfAProgram, RefusesAMachineThatCanNotBePlayed) {
  for (const std::string ranks : {"0", "65", "two", "1.5", "-1"}) {
    const Ended refused = run_headroom({"plan", "--ranks=" + ranks, "--", "true"});
    EXPECT_EQ(refused.code, 2) << ranks;
    EXPECT_NE(refused.err.find("--ranks: '" + ranks +
                               "': without --rank all ranks run, on one "
                               "machine, whose GPUs are from 1 to 64"),
              std::string::npos)
        << refused.err;
  }
}

TEST(PlanOfAProgram, RefusesRanksThatNoWorldHas) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> calls = {
      {{"--rank", "0", "--", "true"}, "--rank: of how many? --ranks says it"},
      {{"--ranks", "8", "--rank", "8", "--", "true"},
       "--rank: '8': 'all' alone, or whole numbers from 0"},
      {{"--ranks", "8", "--rank", "0,all", "--", "true"},
       "--rank: 'all': 'all' alone, or whole numbers"},
      {{"--ranks", "0", "--rank", "0", "--", "true"}, "--ranks: '0': a program's ranks are from 1"},
      {{"--steps", "0", "--", "true"}, "--steps: '0': whole numbers from 1"},
      {{"suite.yaml", "--steps", "3"}, "--steps is for a program, behind --"},
      {{"suite.yaml", "--explain"}, "--explain is for a program, behind --"},
      {{"suite.yaml", "--rank", "0"}, "--rank is for a program, behind --"}};
  for (const auto& [options, message] : calls) {
    std::vector<std::string> call{"plan"};
    call.insert(call.end(), options.begin(), options.end());
    const Ended refused = run_headroom(call);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_NE(refused.err.find(message), std::string::npos) << refused.err;
  }
}

TEST(PlanOfAProgram, SaysWhereThereIsNothingToPlan) {
  const Ended none = run_headroom({"plan", "--", "true"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("used no CUDA device"), std::string::npos) << none.err;
  const Ended missing = run_headroom({"plan", "--", "no-such-program"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("no-such-program"), std::string::npos) << missing.err;
  const Ended failing = run_headroom({"plan", "--", "false"});
  EXPECT_EQ(failing.code, 1);
}

}  // namespace
}  // namespace headroom
