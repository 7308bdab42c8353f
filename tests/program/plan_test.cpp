// SPDX-License-Identifier: Apache-2.0
// Plans: the worker and LibTorch are the real ones, the GPU is not there.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kGiB = 1 << 30;

std::vector<Cells> plan(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  const std::string out = folder / "out";
  arguments.insert(arguments.begin(), "plan");
  arguments.insert(arguments.end(), {"--out", out});
  const Ended ended = run_headroom(arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::vector<Cells> rows = read_csv_rows(out);
  std::filesystem::remove_all(out);
  return rows;
}

/// Plans that several tests look at, made once.
const std::vector<Cells>& plan_once(const std::vector<std::string>& arguments) {
  static std::map<std::vector<std::string>, std::vector<Cells>> plans;
  const auto [entry, is_new] = plans.try_emplace(arguments);
  if (is_new) entry->second = plan(TemporaryFolder(), arguments);
  return entry->second;
}

/// The row of a case.
const Cells& row_of(const std::vector<Cells>& rows, const std::string& name) {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const Cells& row) { return row.text("case") == name; });
}

// Cases ending in _today have today's settings, which the published runs had not.
const std::vector<Cells>& published_vit() {
  return plan_once({source("configs/vit_cifar10.yaml"), "--only", "^row_0.*[^y]$"});
}

const std::vector<Cells>& published_vit_on_four_gpus() {
  return plan_once({source("configs/vit_fsdp_4gpu.yaml"), "--only", "[^y]$"});
}

/// The absolute errors of a column of errors, in percent.
std::vector<double> errors(const std::vector<Cells>& rows) {
  std::vector<double> all;
  for (const Cells& row : rows) {
    EXPECT_EQ(row.text("status"), "ok") << row.text("case") << ": " << row.text("reason");
    for (const char* column : {"run_peak_reserved_error_percent", "driver_peak_error_percent",
                               "init_peak_reserved_error_percent"}) {
      if (!row.text(column).empty()) all.push_back(std::abs(row.real(column)));
    }
  }
  return all;
}

TEST(Plan, TellsThePublishedPeaksOfVit) {
  auto percent = errors(published_vit());
  ASSERT_EQ(percent.size(), 9u);
  for (const double each : percent) EXPECT_LT(each, 2.5);
  std::nth_element(percent.begin(), percent.begin() + 4, percent.end());
  EXPECT_LT(percent[4], 0.6);
}

TEST(Plan, TellsThePublishedPeaksOfBert) {
  const TemporaryFolder folder;
  // Row 4 misses by 3 %, for a cause that is open (docs/planning.md).
  const auto rows =
      plan(folder, {source("configs/bert_large_v100.yaml"), "--only", "^row_[1235-9].*[^y]$"});
  const auto percent = errors(rows);
  ASSERT_EQ(percent.size(), 8u);
  for (const double each : percent) EXPECT_LT(each, 2.0);
}

/// The errors of plans whose bounds must hold the published peaks.
std::vector<double> errors_within_bounds(const std::vector<Cells>& rows) {
  for (const Cells& row : rows) {
    // Some were read off a chart, to 0.1e9 bytes.
    const double published = row.real("published_run_peak_reserved_bytes");
    EXPECT_GE(row.real("run_peak_reserved_upper_bytes"), published - 0.1e9) << row.text("case");
    EXPECT_LE(row.real("run_peak_reserved_lower_bytes"), published + 0.1e9) << row.text("case");
  }
  return errors(rows);
}

TEST(PlanOfRanks, TellsThePublishedPeaksOfFourGpus) {
  const auto large = errors_within_bounds(published_vit_on_four_gpus());
  ASSERT_EQ(large.size(), 3u);
  for (const double each : large) EXPECT_LT(each, 5.0);
}

TEST(PlanOfLargeRanks, TellsThePublishedPeaksOfFourGpus) {
  const auto huge =
      errors_within_bounds(plan_once({source("configs/vit_h14_fsdp.yaml"), "--only", "^h09|^h10"}));
  ASSERT_EQ(huge.size(), 2u);
  for (const double each : huge) EXPECT_LT(each, 10.0);
}

/// Reserved bytes of ViT-L/16 on four ranks, with settings for it.
std::int64_t reserved_of_row_08(const TemporaryFolder& folder, const std::string& setting) {
  const auto rows = plan(
      folder, {source("configs/vit_fsdp_4gpu.yaml"), "--only", "^row_08_fsdp$", "--set", setting});
  return rows.at(0).number("run_peak_reserved_bytes");
}

TEST(PlanOfRanks, WhatTheAllocatorCantUseAgainDependsOnNcclAndOnTheLaunchQueue) {
  const TemporaryFolder folder;
  const std::int64_t then =
      row_of(published_vit_on_four_gpus(), "row_08_fsdp").number("run_peak_reserved_bytes");
  EXPECT_LT(reserved_of_row_08(folder, "train.backend=nccl"), then - kGiB / 10);
  setenv("CUDA_SCALE_LAUNCH_QUEUES", "0.25x", /*overwrite=*/1);
  const std::int64_t shorter = reserved_of_row_08(folder, "train.backend=nccl_torch_2_7");
  unsetenv("CUDA_SCALE_LAUNCH_QUEUES");
  EXPECT_LT(shorter, then - kGiB);
}

// 7.5e9 parameters on 1 to 1024 ranks: arXiv:1910.02054, table 1, and its formulas to the byte but
// for the padding of parts.
TEST(PlanOfRanks, TellsTheModelStatesOfZero) {
  const TemporaryFolder folder;
  const auto rows = plan(folder, {source("configs/zero_table.yaml")});
  ASSERT_EQ(rows.size(), 20u);
  for (const Cells& row : rows) {
    SCOPED_TRACE(row.text("case"));
    ASSERT_EQ(row.text("status"), "ok") << row.text("reason");
    EXPECT_LT(std::abs(row.real("model_states_error_percent")), 1.0);
    const double all = row.real("parameters");
    const double part = all / row.real("ranks");
    const std::string name = row.text("case");
    const double expected = name.starts_with("dp_")       ? 16 * all
                            : name.starts_with("os_g_p_") ? 16 * part
                            : name.starts_with("os_g_")   ? 2 * all + 14 * part
                                                          : 4 * all + 12 * part;
    EXPECT_NEAR(row.real("model_states_bytes") / expected, 1.0, 1e-5);
    EXPECT_LT(row.number("host_peak_bytes"), kGiB);  // nothing of it is touched here
    if (row.text("ranks") == "1") continue;
    // With one sample of few tokens a step is what a rank sends, at a B200's 900e9 bytes a second.
    EXPECT_NEAR(row.real("step_time_lower_bound_ns") * 900, row.real("collective_bytes_per_step"),
                900);
  }
}

// 16 bytes a parameter, shared by all: arXiv:1910.02054, table 1 (in fp32, 4 + 4 + 8).
TEST(PlanOfRanks, OneRankHoldsItsPartOfTheStatesOfThousand) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml",
                   "suite: zero\n"
                   "defaults:\n"
                   "  model: {name: bert_large}\n"
                   "  data: {name: random_tokens, sequence_length: 16, samples: 4096}\n"
                   "  train: {batch_size: 1, steps: 1, warmup_steps: 1}\n"
                   "cases: [{name: fsdp, techniques: [fsdp, on_device_init]}]\n"
                   "matrix: {ranks: [4, 64, 1024]}\n");
  for (const Cells& row : plan(folder, {suite})) {
    const double part = row.real("parameters") / row.real("ranks");
    EXPECT_NEAR(row.real("peak_weights_bytes") / (4 * part), 1.0, 0.01) << row.text("case");
    EXPECT_NEAR(row.real("peak_optimizer_state_bytes") / (8 * part), 1.0, 0.01);
  }
}

const std::string kSuite =
    "suite: plans\n"
    "defaults:\n"
    "  model: {name: vit_ti_16, attention: efficient}\n"
    "  data: {name: digits, image_size: 64}\n"
    "  train: {batch_size: 8, steps: 2, warmup_steps: 1}\n"
    "cases:\n"
    "  - name: vanilla\n"
    "  - {name: activation_offload, techniques: [activation_offload]}\n"
    "  - {name: optimizer_offload, techniques: [optimizer_offload]}\n";

/// What two plans of one suite agree on.
std::vector<std::string> lasting_cells(const std::vector<Cells>& rows) {
  std::vector<std::string> cells;
  for (const Cells& row : rows) {
    for (const char* column :
         {"case", "status", "init_peak_allocated_bytes", "run_peak_allocated_bytes",
          "run_peak_reserved_bytes", "run_peak_reserved_lower_bytes",
          "run_peak_reserved_upper_bytes", "driver_peak_bytes", "pinned_peak_bytes",
          "peak_activations_bytes", "peak_temporary_bytes", "peak_rounding_bytes", "peak_phase",
          "peak_operator", "flops_per_step", "host_link_bytes_per_step"}) {
      cells.push_back(row.text(column));
    }
  }
  return cells;
}

TEST(Plan, RepeatsToTheByteAndHasTheColumnsOfAPlanAndNoTimes) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kSuite);
  const auto rows = plan(folder, {suite, "--gpu", "t4"});
  EXPECT_EQ(lasting_cells(rows), lasting_cells(plan(folder, {suite, "--gpu", "t4"})));
  for (const Cells& row : rows) {
    EXPECT_EQ(row.text("kind"), "planned");
    EXPECT_EQ(row.text("device_name"), "Tesla T4");
    EXPECT_EQ(row.parts_of_the_peak(), row.number("run_peak_allocated_bytes"));
    EXPECT_EQ(row.text("fits"), "yes");
    EXPECT_LE(row.number("run_peak_reserved_lower_bytes"), row.number("run_peak_reserved_bytes"));
    EXPECT_GE(row.number("run_peak_reserved_upper_bytes"), row.number("run_peak_reserved_bytes"));
    EXPECT_EQ(row.number("driver_peak_bytes"),
              row.number("context_bytes") + row.number("run_peak_reserved_bytes"));
    EXPECT_GT(row.number("step_time_lower_bound_ns"), 0);
    for (const char* column :
         {"step_time_median_ns", "first_loss", "held_out_accuracy", "gpu_uuid", "missing_bytes"}) {
      EXPECT_EQ(row.text(column), "") << column;
    }
  }
}

TEST(Plan, CountsWhatIsOffloadedAsTheHosts) {
  const TemporaryFolder folder;
  const std::string suite = folder.write(
      "suite.yaml",
      "suite: host\n"
      "defaults: {model: {name: vit_b_16, attention: efficient}, data: {name: random_images}}\n"
      "cases:\n"
      "  - {name: none, techniques: [on_device_init]}\n"
      "  - {name: optimizer, techniques: [on_device_init, optimizer_offload]}\n"
      "  - {name: activations, techniques: [on_device_init, activation_offload]}\n");
  const auto rows = plan(folder, {suite, "--set", "train.steps=1"});
  ASSERT_EQ(rows.size(), 3u);
  for (const std::size_t offloaded : {1, 2}) {
    const Cells& row = rows[offloaded];
    const std::int64_t more = row.number("host_peak_bytes") - rows[0].number("host_peak_bytes");
    EXPECT_GT(row.number("pinned_peak_bytes"), kGiB / 2) << row.text("case");
    EXPECT_NEAR(static_cast<double>(more) / row.real("pinned_peak_bytes"), 1.0, 0.1)
        << row.text("case");
  }
}

TEST(Plan, SaysByHowMuchACaseMisses) {
  const Cells& whole = row_of(published_vit(), "row_01_vanilla");
  const Cells cut = plan(TemporaryFolder(), {source("configs/vit_cifar10.yaml"), "--only",
                                             "^row_01_vanilla$", "--gpu-memory", "16GiB"})
                        .at(0);
  EXPECT_EQ(cut.text("status"), "out_of_memory");
  EXPECT_EQ(cut.text("fits"), "no");
  EXPECT_NE(cut.text("reason").find("CUDA out of memory"), std::string::npos);
  EXPECT_EQ(cut.number("run_peak_reserved_bytes"), whole.number("run_peak_reserved_bytes"));
  EXPECT_EQ(cut.number("missing_bytes"), whole.number("driver_peak_bytes") - 16 * kGiB);
}

TEST(Plan, RefusesWhatItDoesNotKnow) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", kSuite);
  const Ended gpu = run_headroom({"plan", suite, "--gpu", "h20"});
  EXPECT_EQ(gpu.code, 2);
  EXPECT_NE(gpu.err.find("did you mean 'h200'"), std::string::npos) << gpu.err;
  const Ended memory = run_headroom({"plan", suite, "--gpu-memory", "16GB"});
  EXPECT_EQ(memory.code, 2);
  EXPECT_NE(memory.err.find("16GiB"), std::string::npos) << memory.err;
  EXPECT_EQ(run_headroom({"plan"}).code, 2);
  EXPECT_EQ(run_headroom({"plan", "--"}).code, 2);
  EXPECT_EQ(run_headroom({"plan", suite, "--", "true"}).code, 2);
}

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
