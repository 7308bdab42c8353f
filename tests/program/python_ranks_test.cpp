// SPDX-License-Identifier: Apache-2.0
// Programs of several ranks, or of several devices.
#include <set>

#include "tests/program/python_program.h"

namespace headroom {
namespace {

class PythonRanks : public PythonProgram {};

TEST_F(PythonRanks, ReadsBackWhatItSentToOtherRanks) {
  for (const char* ranks : {"1", "8"}) {
    setenv("WORLD_SIZE", ranks, 1);
    const Ended ended = plan({}, {path("ddp_train.py")});
    unsetenv("WORLD_SIZE");
    EXPECT_EQ(ended.code, 0) << ended.err;
    const Json answer = Json::parse(ended.out);
    EXPECT_EQ(answer["processes"][0]["peak_allocated_bytes"], printed(ended.err, "allocated"));
  }
}

TEST_F(PythonRanks, HasAllItsRanksWhereALauncherStartsThem) {
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
    expect_printed_peaks(process, ended.err, number);
  }
  EXPECT_GT(answer["processes"][3]["peak_allocated_bytes"],
            answer["processes"][0]["peak_allocated_bytes"]);
}

// What a collective holds that nobody waits for but by its future, PyTorch's watchdog gives back,
// which looks every 100 ms.
TEST_F(PythonRanks, HoldsAsMuchHoweverFastItRuns) {
  const std::string program =
      "import sys, time, torch, torch.distributed as dist\n"
      "dist.init_process_group('nccl', device_id=torch.device('cuda', 0))\n"
      "factor = torch.ones(8192, 8192, dtype=torch.float16, device='cuda')\n"
      "dist.all_reduce(factor)\n"
      "torch.cuda.synchronize()\n"
      "for step in range(24):\n"
      "    for _ in range(10): factor @ factor\n"  // 50 ms
      "    summed = torch.ones(1 << 20, device='cuda')\n"
      "    dist.all_reduce(summed, async_op=True).get_future().wait()\n"
      "    del summed\n"
      "    time.sleep(float(sys.argv[1]))\n"
      "    if step % 4 == 3: torch.cuda.synchronize()\n"
      "print('peak', torch.cuda.max_memory_allocated())\n";
  std::set<std::int64_t> peaks;
  for (const char* nap : {"0", "0.03", "0.12"}) {
    const Ended ended = plan({"--ranks", "2", "--rank", "0"}, {"-c", program, nap});
    ASSERT_EQ(ended.code, 0) << ended.err;
    peaks.insert(printed(ended.err, "peak"));
  }
  EXPECT_EQ(peaks.size(), 1U);
}

// A collective is queued 88 ms before it is over, with the next one. What the watchdog's last look
// found under way, up to 100 ms earlier, is held beside it, so that most steps end with two of
// them.
TEST_F(PythonRanks, HoldsWhatTheWatchdogsLastLookFoundUnderWay) {
  const std::string program =
      "import torch, torch.distributed as dist\n"
      "dist.init_process_group('nccl', device_id=torch.device('cuda', 0))\n"
      "factor = torch.ones(8192, 8192, dtype=torch.float16, device='cuda')\n"
      "dist.all_reduce(factor)\n"
      "factor @ factor\n"
      "torch.cuda.synchronize()\n"
      "before, held = torch.cuda.memory_allocated(), 0\n"
      "for step in range(24):\n"
      "    for _ in range(60): factor @ factor\n"  // 88 ms
      "    summed = torch.ones(1 << 20, device='cuda')\n"
      "    dist.all_reduce(summed, async_op=True).get_future().wait()\n"
      "    del summed\n"
      "    torch.cuda.synchronize()\n"
      "    held += (torch.cuda.memory_allocated() - before) >> 22\n"
      "print('held', held)\n";
  const Ended ended = plan({"--ranks", "2", "--rank", "0"}, {"-c", program});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_GE(printed(ended.err, "held"), 2 * 24 - 2);
  EXPECT_LE(printed(ended.err, "held"), 2 * 24 + 6);
}

// Two ranks fit the machine; that these are all there are, the launcher's variable denies.
TEST_F(PythonRanks, WaitsForNoRankOfALargerWorld) {
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
TEST_F(PythonRanks, IsOneRankAfterTheOtherOfAWorldThatNeverComes) {
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
    expect_printed_peaks(process, ended.err, number);
  }
  EXPECT_GT(answer["processes"][0]["peak_allocated_bytes"],
            answer["processes"][1]["peak_allocated_bytes"]);
}

// There would be a GPU for the other rank.
TEST_F(PythonRanks, IsOneRankAlsoWhereAllCouldBeOnTheMachine) {
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
TEST_F(PythonRanks, DoesNotFitWhereOneOfItsRanksDoesNot) {
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

// Rank 0 of four on H100: its communicator, rings for small tensors, multicast for a sum of 4 MiB,
// and one of the two ranks that send, which PyTorch makes for them.
TEST_F(PythonRanks, TakeWhatNcclTakes) {
  const std::string program =
      "import torch, torch.distributed as dist\n"
      "dist.init_process_group('nccl', store=dist.HashStore(), rank=0, world_size=4)\n"
      "small, large = torch.ones(1, device='cuda'), torch.ones(1 << 20, device='cuda')\n"
      "dist.broadcast(small, 0)\n"
      "dist.all_reduce(large)\n"
      "dist.send(small, 1)\n";
  constexpr std::int64_t kMiB = 1 << 20;
  constexpr std::int64_t kKernels = 108;
  constexpr std::int64_t kMade = 2 * (3 * 32 + 2 + 16 + 1);
  constexpr std::int64_t kRings = 24 * 12;
  const auto nccl_of = [](const Json& process) {
    return process["nccl_bytes"].get<std::int64_t>() / kMiB;
  };
  const std::vector<std::string> options{"--gpu", "h100", "--ranks", "4", "--rank", "0"};
  const Ended ended = plan(options, {"-c", program});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json process = Json::parse(ended.out)["processes"][0];
  EXPECT_EQ(nccl_of(process), kKernels + kMade + kRings + 4 * 32 + kMade + 32 * 2);
  EXPECT_EQ(process["driver_peak_bytes"], process["context_bytes"].get<std::int64_t>() +
                                              process["nccl_bytes"].get<std::int64_t>() +
                                              process["peak_reserved_bytes"].get<std::int64_t>());

  std::vector<std::string> little = options;
  little.insert(little.end(), {"--gpu-memory", "1200MiB"});
  const Ended refused = plan(little, {"-c", program});
  EXPECT_EQ(refused.code, 5) << refused.err;
  EXPECT_NE(refused.err.find("Cuda failure 2 'out of memory'"), std::string::npos) << refused.err;
  const Json last = Json::parse(refused.out)["processes"][0];
  EXPECT_EQ(last["fits"], false);
  EXPECT_EQ(last["refused_bytes"], kRings * kMiB);
  EXPECT_EQ(nccl_of(last), kKernels + kMade);
}

// Started by multiprocessing, they have no variable that tells which they are: NCCL does.
TEST_F(PythonRanks, IsKnownByItsRankOfNccl) {
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

TEST_F(PythonRanks, HasSeveralDevicesInOneProcess) {
  const Ended ended = plan({"--ranks", "2"}, {path("two_devices.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json answer = Json::parse(ended.out);
  ASSERT_EQ(answer["processes"].size(), 2U) << ended.out;
  for (int device = 0; device < 2; ++device) {
    const Json& figures = answer["processes"][static_cast<std::size_t>(device)];
    const std::string number = "_" + std::to_string(device);
    EXPECT_EQ(figures["device"], device);
    expect_printed_peaks(figures, ended.err, number);
    EXPECT_GT(figures["product_flops"], 0);
  }
  EXPECT_GT(answer["processes"][1]["peak_allocated_bytes"], 1'000'000'000);
}

TEST_F(PythonRanks, SeesTheDevicesThatItsEnvironmentNames) {
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

// As fbgemm_gpu does, to find the links between GPUs, when it is imported.
TEST_F(PythonRanks, TellsByNvmlWhereItsDevicesAreAndNoLinks) {
  const std::string program =
      "import ctypes, torch\n"
      "x = torch.ones(1, device='cuda')\n"
      "nvml = ctypes.CDLL('libnvidia-ml.so.1')\n"
      "device, info, again = ctypes.c_void_p(), ctypes.create_string_buffer(68), "
      "ctypes.c_void_p()\n"
      "assert nvml.nvmlInit_v2() == 0\n"
      "assert nvml.nvmlDeviceGetHandleByIndex_v2(3, ctypes.byref(device)) == 0\n"
      "assert nvml.nvmlDeviceGetPciInfo_v3(device, info) == 0\n"
      "assert info.raw[36:].rstrip(b'\\0') == b'00000000:03:00.0', info.raw\n"
      "assert nvml.nvmlDeviceGetHandleByPciBusId_v2(info.raw[:16], ctypes.byref(again)) == 0\n"
      "assert again.value == device.value\n"
      "assert nvml.nvmlDeviceGetNvLinkState(device, 0, ctypes.byref(ctypes.c_uint())) == 3\n";
  const Ended ended = plan({"--ranks", "4"}, {"-c", program});
  EXPECT_EQ(ended.code, 0) << ended.err;
}

}  // namespace
}  // namespace headroom
