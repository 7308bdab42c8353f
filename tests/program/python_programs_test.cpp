// SPDX-License-Identifier: Apache-2.0
// Real programs of PyTorch, as their users write them, run dry: they know nothing of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

class PythonProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (access(python().c_str(), X_OK) != 0 ||
        access(source(".deps/programs").c_str(), R_OK) != 0) {
      GTEST_SKIP() << "ci/bootstrap tests did not install what these programs need";
    }
    setenv(kHostPace, "6000", 1);  // where it is chosen, a program runs once
  }
  void TearDown() override { unsetenv(kHostPace); }

  static constexpr const char* kHostPace = "HEADROOM_DRY_RUN_HOST_NS";

  static std::string python() { return source(".deps/python/bin/python3"); }
  static std::string path(const std::string& name) {
    return source("tests/dry_run/programs/" + name);
  }

  /// Runs Python dry, with `options` of plan.
  static Ended plan(std::vector<std::string> options, const std::vector<std::string>& arguments) {
    options.insert(options.begin(), "plan");
    options.insert(options.end(), {"--json", "--", "env",
                                   "PYTHONPATH=" + source(".deps/programs").string(), python()});
    options.insert(options.end(), arguments.begin(), arguments.end());
    return run_headroom(options);
  }
};

/// The number behind the last `word` that a program printed.
std::int64_t printed(const std::string& text, const std::string& word) {
  const std::size_t at = text.rfind(word + " ");
  return at == std::string::npos ? -1 : std::stoll(text.substr(at + word.size()));
}

TEST_F(PythonProgram, TellsWhatPyTorchItselfCounts) {
  const std::vector<std::vector<std::string>> programs = {
      {path("torchvision_train.py")},
      {path("torchvision_train.py"), "resnet50", "64"},
      {path("transformers_train.py")},
      {path("fsdp2_train.py")}};
  for (const auto& program : programs) {
    SCOPED_TRACE(program.front());
    const Ended ended = plan({"--gpu", "a100-80gb"}, program);
    ASSERT_EQ(ended.code, 0) << ended.err;
    const Json answer = Json::parse(ended.out);
    ASSERT_EQ(answer["processes"].size(), 1u) << ended.out;
    const Json& process = answer["processes"][0];
    EXPECT_EQ(answer["fits"], true);
    EXPECT_EQ(process["libtorch"], "2.11.0");
    EXPECT_GT(process["peak_allocated_bytes"], 1'000'000'000);
    EXPECT_EQ(process["peak_allocated_bytes"], printed(ended.err, "allocated"));
    EXPECT_EQ(process["peak_reserved_bytes"], printed(ended.err, "reserved"));
    EXPECT_GT(process["product_flops"], 1'000'000'000'000);
  }
}

// It runs three times: as estimated, with a host far ahead of the GPU, and with one that waits.
TEST_F(PythonProgram, TellsTheBoundsOfWhatItReserves) {
  unsetenv(kHostPace);
  const std::string program =
      "import torch\n"
      "side = torch.cuda.Stream()\n"
      "for _ in range(9):\n"
      "    block = torch.ones(1 << 24, device='cuda')\n"
      "    side.wait_stream(torch.cuda.current_stream())\n"
      "    with torch.cuda.stream(side):\n"
      "        for _ in range(9): block.mul_(2)\n"
      "    block.record_stream(side)\n"
      "    del block\n"  // whether the next is this one, the pace decides
      "print('reserved', torch.cuda.max_memory_reserved(), flush=True)\n";
  const Ended ended = plan({}, {"-c", program});
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::vector<std::int64_t> reserved;
  for (std::string text = ended.err; printed(text, "reserved") >= 0;) {
    reserved.insert(reserved.begin(), printed(text, "reserved"));
    text.resize(text.rfind("reserved "));
  }
  ASSERT_EQ(reserved.size(), 3U) << ended.err;
  const Json process = Json::parse(ended.out)["processes"][0];
  EXPECT_EQ(process["peak_reserved_bytes"], reserved[0]);
  const auto [lower, upper] = std::minmax_element(reserved.begin(), reserved.end());
  EXPECT_EQ(process["peak_reserved_lower_bytes"], *lower);
  EXPECT_EQ(process["peak_reserved_upper_bytes"], *upper);
  EXPECT_LT(*lower, *upper);
}

// By hand: four layers of 1024 x 1024 numbers of 4 bytes and a bias, of which each has a gradient
// and two numbers of AdamW's state; 512 samples of 1024 numbers. The program steps in its line 8.
TEST_F(PythonProgram, SaysWhatHoldsItsPeak) {
  const TemporaryFolder folder;
  const std::string script =
      folder.write("train.py",
                   "import torch\n"
                   "layers = [torch.nn.Linear(1024, 1024) for _ in range(4)]\n"
                   "model = torch.nn.Sequential(*layers).cuda()\n"
                   "optimizer = torch.optim.AdamW(model.parameters())\n"
                   "for _ in range(3):\n"
                   "    batch = torch.randn(512, 1024, device='cuda')\n"
                   "    model(batch).sum().backward()\n"
                   "    optimizer.step()\n");
  const Ended ended = plan({"--explain"}, {script});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json process = Json::parse(ended.out)["processes"][0];
  std::int64_t sum = 0;
  std::map<std::string, std::int64_t> by_kind;
  for (const Json& holder : process["holders"]) {
    sum += holder["bytes"].get<std::int64_t>();
    by_kind[holder["kind"]] += holder["bytes"].get<std::int64_t>();
    if (holder["kind"] == "optimizer state") {
      EXPECT_EQ(holder["line"], script + ":8 <module>");
      EXPECT_EQ(holder["blocks"], 16);
    }
  }
  EXPECT_EQ(sum, process["peak_allocated_bytes"]);
  constexpr std::int64_t kParameters = 4 * (1024 + 1) * 1024 * 4;
  EXPECT_EQ(by_kind["parameters"], kParameters);
  EXPECT_EQ(by_kind["gradients"], kParameters);
  EXPECT_EQ(by_kind["optimizer state"], 2 * kParameters);
  EXPECT_GE(by_kind["forward"], 512 * 1024 * 4);
}

TEST_F(PythonProgram, DoesNotSayWhatHoldsItsPeakWhereItRecordsForItself) {
  const std::string program =
      "import torch\n"
      "torch.ones(1 << 20, device='cuda')\n"
      "torch.cuda.memory._record_memory_history(clear_history=True)\n"
      "torch.ones(1 << 21, device='cuda')\n";
  const Ended ended = plan({"--explain"}, {"-c", program});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json process = Json::parse(ended.out)["processes"][0];
  EXPECT_EQ(process["peak_allocated_bytes"], std::int64_t{8} << 20);
  EXPECT_FALSE(process.contains("holders"));
}

// By hand, in numbers of 4 bytes: of 35 steps of 20 samples 32 of output, and 4 x 32 of gates, 32
// of cell and 32 of output that cuDNN keeps; the first and last output and cell of 20 samples.
TEST_F(PythonProgram, TrainsRecurrentNetworks) {
  const Ended ended = plan({"--gpu", "a100-80gb"}, {path("rnn_train.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "kept"), 4 * (35 * 20 * (32 + 6 * 32) + 4 * 20 * 32));
}

// Complex numbers of 8 bytes: those that are transformed, what comes of them, and the work area.
TEST_F(PythonProgram, TransformsByFourier) {
  const Ended ended = plan({"--gpu", "a100-80gb"}, {path("fft.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "transform"), 3 * 64 * 1024 * 8);
  EXPECT_EQ(printed(ended.err, "gradients"), 8 * 3 * 224 * 224);
}

// Those that are run with every version of PyTorch (ci/pytorch_versions).
TEST_F(PythonProgram, TellsWhatEveryPyTorchCounts) {
  for (const char* name : {"convolutions", "transformer", "ranks"}) {
    SCOPED_TRACE(name);
    const Ended ended = plan({}, {path("versions/" + std::string(name) + ".py")});
    ASSERT_EQ(ended.code, 0) << ended.err;
    const Json process = Json::parse(ended.out)["processes"][0];
    EXPECT_GT(process["peak_allocated_bytes"], 100'000'000);
    EXPECT_EQ(process["peak_allocated_bytes"], printed(ended.err, "allocated"));
    EXPECT_EQ(process["peak_reserved_bytes"], printed(ended.err, "reserved"));
  }
}

// What the allocator reports is enough, of which other versions than headroom's own are known.
TEST_F(PythonProgram, TellsItsPeaksWhereNoKernelRan) {
  const Ended ended = plan({}, {"-c",
                                "import os, torch\n"
                                "x = torch.empty(1 << 28, device='cuda')\n"
                                "del x\n"
                                "torch.cuda.empty_cache()\n"
                                "torch.cuda.reset_peak_memory_stats()\n"
                                "os._exit(0)"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Json process = Json::parse(ended.out)["processes"][0];
  EXPECT_EQ(process["peak_allocated_bytes"], std::int64_t{1} << 30);
  EXPECT_EQ(process["peak_reserved_bytes"], std::int64_t{1} << 30);
}

TEST_F(PythonProgram, EndsAsOnASmallerGpu) {
  const Ended ended = plan({"--gpu-memory", "3GiB"}, {path("torchvision_train.py")});
  EXPECT_EQ(ended.code, 5) << ended.err;
  const Json answer = Json::parse(ended.out);
  EXPECT_EQ(answer["fits"], false);
  EXPECT_EQ(answer["partial"], true);
  EXPECT_EQ(answer["exit_status"], 1);
  EXPECT_GT(answer["processes"][0]["refused_bytes"],
            answer["processes"][0]["free_when_refused_bytes"]);
  EXPECT_NE(ended.err.find("torch.OutOfMemoryError"), std::string::npos);
}

TEST_F(PythonProgram, TellsItsPeaksHoweverItEndsAndWhateverBecameOfThem) {
  const Ended ended = plan({}, {path("strange_ends.py")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Json answer = Json::parse(ended.out);
  const auto ends = static_cast<std::size_t>(printed(ended.err, "ends"));
  EXPECT_GE(ends, 6U);
  ASSERT_EQ(answer["processes"].size(), ends) << ended.out;
  for (const Json& process : answer["processes"]) {
    EXPECT_EQ(process["peak_allocated_bytes"], std::int64_t{1} << 30);
    EXPECT_EQ(process["latest_peak_allocated_bytes"], std::int64_t{4} << 20);
    EXPECT_EQ(process["ended_by_itself"], false);
  }
}

TEST_F(PythonProgram, FindsItsKernelsOnEveryGpu) {
  const Ended list = run_headroom({"list", "gpus", "--json"});
  ASSERT_EQ(list.code, 0) << list.err;
  std::vector<std::string> program{path("every_gpu.py")};
  for (const Json& gpu : Json::parse(list.out)) program.push_back(gpu.at("name"));
  const Ended ended = plan({}, program);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "works"), static_cast<std::int64_t>(program.size()) - 1)
      << ended.err;
}

TEST_F(PythonProgram, ReadsBackWhatItSentToOtherRanks) {
  for (const char* ranks : {"1", "8"}) {
    setenv("WORLD_SIZE", ranks, 1);
    const Ended ended = plan({}, {path("ddp_train.py")});
    unsetenv("WORLD_SIZE");
    EXPECT_EQ(ended.code, 0) << ended.err;
    const Json answer = Json::parse(ended.out);
    EXPECT_EQ(answer["processes"][0]["peak_allocated_bytes"], printed(ended.err, "allocated"));
  }
}

TEST_F(PythonProgram, HasAllItsRanksWhereALauncherStartsThem) {
  constexpr int kRanks = 4;
  const std::string ranks = std::to_string(kRanks);
  const TemporaryFolder folder;
  const Ended ended =
      plan({"--ranks", ranks}, {"-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
                                ranks, path("local_ranks.py"), folder / "flag"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json answer = Json::parse(ended.out);
  ASSERT_EQ(answer["processes"].size(), 4U) << ended.out;
  for (int rank = 0; rank < kRanks; ++rank) {
    const Json& process = answer["processes"][static_cast<std::size_t>(rank)];
    const std::string number = "_" + std::to_string(rank);
    EXPECT_EQ(process["rank"], rank);
    EXPECT_EQ(process["ranks"], kRanks);
    EXPECT_EQ(process["device"], rank);
    EXPECT_EQ(process["peak_allocated_bytes"], printed(ended.err, "allocated" + number));
    EXPECT_EQ(process["peak_reserved_bytes"], printed(ended.err, "reserved" + number));
  }
  EXPECT_GT(answer["processes"][3]["peak_allocated_bytes"],
            answer["processes"][0]["peak_allocated_bytes"]);
}

// Two ranks fit the machine; that these are all there are, the launcher's variable denies.
TEST_F(PythonProgram, WaitsForNoRankOfALargerWorld) {
  const std::string program =
      "import torch, torch.distributed as dist\n"
      "pair = dist.ProcessGroupNCCL(dist.HashStore(), 0, 2, dist.ProcessGroupNCCL.Options())\n"
      "numbers = torch.tensor([1, 2]).to('cuda')\n"
      "pair.allreduce([numbers]).wait()\n"
      "print('sum', numbers.tolist()[1])\n";
  setenv("RANK", "0", 1);
  setenv("WORLD_SIZE", "16", 1);
  const Ended ended = plan({"--ranks", "8"}, {"-c", program});
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "sum"), 4);
  EXPECT_EQ(Json::parse(ended.out)["processes"][0]["ranks"], 16);
}

// Of a world of 8 ranks, with a GPU for each, those that differ: the first of each stage of the
// pipeline.
TEST_F(PythonProgram, IsOneRankAfterTheOtherOfAWorldThatNeverComes) {
  const Ended ended = plan({"--ranks", "8", "--rank", "all"}, {path("pipeline_rank.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json answer = Json::parse(ended.out);
  const std::vector<int> ranks{0, 4};
  ASSERT_EQ(answer["processes"].size(), ranks.size()) << ended.out;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Json& process = answer["processes"][i];
    const std::string number = "_" + std::to_string(ranks[i]);
    EXPECT_EQ(process["rank"], ranks[i]);
    EXPECT_EQ(process["ranks"], 8);
    EXPECT_EQ(process["stage"], ranks[i] / 4);
    EXPECT_EQ(process["stages"], 2);
    EXPECT_EQ(process["device"], ranks[i]);
    EXPECT_EQ(process["peak_allocated_bytes"], printed(ended.err, "allocated" + number));
    EXPECT_EQ(process["peak_reserved_bytes"], printed(ended.err, "reserved" + number));
  }
  EXPECT_GT(answer["processes"][0]["peak_allocated_bytes"],
            answer["processes"][1]["peak_allocated_bytes"]);
}

// There would be a GPU for the other rank.
TEST_F(PythonProgram, IsOneRankAlsoWhereAllCouldBeOnTheMachine) {
  const std::string program =
      "import os, torch, torch.distributed as dist\n"
      "dist.init_process_group('nccl')\n"
      "torch.cuda.set_device(int(os.environ['LOCAL_RANK']))\n"
      "numbers = torch.tensor([1, 2]).to('cuda')\n"
      "dist.all_reduce(numbers)\n"
      "print('sum', numbers.tolist()[1], 'of', dist.get_world_size(), flush=True)\n";
  const Ended ended = plan({"--ranks", "2", "--rank", "1"}, {"-c", program});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "sum"), 4);
  EXPECT_EQ(printed(ended.err, "of"), 2);
  const Json process = Json::parse(ended.out)["processes"][0];
  EXPECT_EQ(process["rank"], 1);
  EXPECT_EQ(process["device"], 1);
}

// A rank that got nothing at all, beside one that did.
TEST_F(PythonProgram, DoesNotFitWhereOneOfItsRanksDoesNot) {
  const std::string rank =
      "import os, torch\n"
      "rank = int(os.environ['LOCAL_RANK'])\n"
      "torch.ones((1 + 8 * rank) << 28, device=rank)\n";
  const TemporaryFolder folder;
  const Ended ended = plan({"--ranks", "2", "--gpu-memory", "4GiB"},
                           {"-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
                            folder.write("rank.py", rank)});
  EXPECT_EQ(ended.code, 5) << ended.err;
  const Json answer = Json::parse(ended.out);
  EXPECT_EQ(answer["fits"], false);
  const Json& last = answer["processes"].back();
  EXPECT_EQ(last["rank"], 1);
  EXPECT_EQ(last["device"], 1);
  EXPECT_EQ(last["fits"], false);
  EXPECT_EQ(last["refused_bytes"], std::int64_t{9} << 30);
}

// Started by multiprocessing, they have no variable that tells which they are: NCCL does.
TEST_F(PythonProgram, IsKnownByItsRankOfNccl) {
  const std::string rank =
      "import os, sys, torch, torch.distributed as dist\n"
      "rank = int(sys.argv[1])\n"
      "torch.cuda.set_device(rank)\n"
      "dist.init_process_group('nccl', init_method='file://' + sys.argv[2], rank=rank, "
      "world_size=2)\n"
      "dist.all_reduce(torch.ones(1 << 20, device='cuda'))\n";
  const std::string both =
      "import subprocess, sys\n"
      "code, file = sys.argv[1:]\n"
      "ranks = [subprocess.Popen([sys.executable, '-c', code, rank, file]) for rank in '10']\n"
      "sys.exit(any([each.wait() for each in ranks]))\n";
  const TemporaryFolder folder;
  const Ended ended = plan({"--ranks", "2"}, {"-c", both, rank, folder / "store"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json answer = Json::parse(ended.out);
  ASSERT_EQ(answer["processes"].size(), 2U) << ended.out;
  for (int each = 0; each < 2; ++each) {
    const Json& process = answer["processes"][static_cast<std::size_t>(each)];
    EXPECT_EQ(process["rank"], each);
    EXPECT_EQ(process["ranks"], 2);
    EXPECT_EQ(process["device"], each);
  }
}

TEST_F(PythonProgram, HasSeveralDevicesInOneProcess) {
  const Ended ended = plan({"--ranks", "2"}, {path("two_devices.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json answer = Json::parse(ended.out);
  ASSERT_EQ(answer["processes"].size(), 2U) << ended.out;
  for (int device = 0; device < 2; ++device) {
    const Json& figures = answer["processes"][static_cast<std::size_t>(device)];
    const std::string number = "_" + std::to_string(device);
    EXPECT_EQ(figures["device"], device);
    EXPECT_EQ(figures["peak_allocated_bytes"], printed(ended.err, "allocated" + number));
    EXPECT_EQ(figures["peak_reserved_bytes"], printed(ended.err, "reserved" + number));
    EXPECT_GT(figures["product_flops"], 0);
  }
  EXPECT_GT(answer["processes"][1]["peak_allocated_bytes"], 1'000'000'000);
}

TEST_F(PythonProgram, SeesTheDevicesThatItsEnvironmentNames) {
  const std::string program =
      "import os, torch\n"
      "import torch.cuda as cuda\n"
      "assert cuda._device_count_nvml() == 4\n"  // of the machine, which NVML tells
      "os.environ['CUDA_VISIBLE_DEVICES'] = '2,1'\n"
      "x = torch.ones(1 << 20, device='cuda:1')\n"
      "print('visible', cuda.device_count())\n";
  const Ended ended = plan({"--ranks", "4"}, {"-c", program});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "visible"), 2);
  const Json answer = Json::parse(ended.out);
  ASSERT_EQ(answer["processes"].size(), 1U) << ended.out;
  EXPECT_EQ(answer["processes"][0]["device"], 1);
}

TEST_F(PythonProgram, FitsWhereItGoesOnWithLess) {
  const Ended ended =
      plan({"--gpu-memory", "2GiB"},
           {"-c",
            "import torch\n"
            "try: torch.empty(4 << 30, device='cuda')\n"
            "except torch.OutOfMemoryError: print(torch.ones(9, device='cuda').sum().item())"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Json answer = Json::parse(ended.out);
  EXPECT_EQ(answer["fits"], true);
  EXPECT_EQ(answer["processes"][0]["refused_bytes"], std::int64_t{16} << 30);  // floats
  EXPECT_EQ(answer["processes"][0]["values_read"], 1);
}

TEST_F(PythonProgram, NamesWhatCanNotBeFollowed) {
  const std::string begin = "import torch; x = torch.ones(9, 9, 9, device='cuda'); ";
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"torch.linalg.svd(x)", "it called cusolver"},
      {"torch.nn.functional.ctc_loss(x, torch.ones(27, dtype=torch.int32), (9,) * 9, (3,) * 9)",
       "it called cudnn"},
      // An error that none of the dry run's functions gives.
      {"cudart = torch.cuda.cudart(); cudart.cudaGetErrorString(cudart.cudaError(35))",
       "it called what gave cudaErrorInsufficientDriver (error 35)"}};
  for (const auto& [call, message] : calls) {
    SCOPED_TRACE(call);
    const Ended ended = plan({}, {"-c", begin + call});
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_NE(ended.err.find(message), std::string::npos) << ended.err;
  }
}

TEST_F(PythonProgram, SaysThatAProgramOnTheCpuHasNothingToPlan) {
  const Ended ended = plan({}, {"-c", "import torch; torch.ones(3).sum()"});
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("used no CUDA device"), std::string::npos);
}

}  // namespace
}  // namespace headroom
