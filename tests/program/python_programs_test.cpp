// SPDX-License-Identifier: Apache-2.0
// Programs of one process.
#include <algorithm>
#include <map>

#include "tests/program/python_program.h"

namespace headroom {
namespace {

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
    expect_printed_peaks(process, ended.err);
    EXPECT_GT(process["product_flops"], 1'000'000'000'000);
  }
}

// The program has a label for each token beside it, 8 bytes each; ours makes them of its tokens.
// Both have one more block of 512 bytes: a copy of the rotary frequencies, and a label a text.
TEST_F(PythonProgram, TakesWhatOurLlamaTakes) {
  const Ended theirs = plan({"--gpu", "a100-80gb"}, {path("llama_train.py")});
  ASSERT_EQ(theirs.code, 0) << theirs.err;
  const TemporaryFolder folder;
  const std::string suite = folder.write(
      "suite.yaml",
      "suite: llama\n"
      "defaults:\n"
      "  model: {name: llama_mini, layers: 2}\n"
      "  data: {name: random_tokens, sequence_length: 512}\n"
      "  train: {batch_size: 4, steps: 1, warmup_steps: 1, optimizer: {name: adamw, lr: 1.0e-4}}\n"
      "cases: [{name: bfloat16, techniques: [bfloat16]}]\n");
  const Ended ours =
      run_headroom({"plan", suite, "--gpu", "a100-80gb", "--json", "--out", (folder / "out")});
  ASSERT_EQ(ours.code, 0) << ours.err;
  const std::int64_t labels = 4 * 512 * 8;
  EXPECT_EQ(Json::parse(ours.out)[0]["run_peak_allocated_bytes"].get<std::int64_t>() + labels,
            Json::parse(theirs.out)["processes"][0]["peak_allocated_bytes"]);
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

// A GAN, say: two optimizers in turns, and no end.
TEST_F(PythonProgram, EndsAfterSoManyStepsAsItWould) {
  const std::string program =
      "import atexit, itertools, torch\n"
      "atexit.register(lambda: print('end', step, flush=True))\n"
      "parts = [torch.nn.Linear(9, 9).cuda() for _ in range(2)]\n"
      "optimizers = [torch.optim.SGD(part.parameters()) for part in parts]\n"
      "for step in itertools.count(1):\n"
      "    for part, optimizer in zip(parts, optimizers):\n"
      "        part(torch.ones(9, device='cuda')).sum().backward()\n"
      "        optimizer.step()\n";
  const Ended ended = plan({"--steps", "3", "--explain"}, {"-c", program});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "end"), 3);
  const Json answer = Json::parse(ended.out);
  EXPECT_EQ(answer["partial"], false);
  EXPECT_TRUE(answer["processes"][0].contains("holders"));
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

// Those that are run with every version of PyTorch (ci/pytorch_versions).
TEST_F(PythonProgram, TellsWhatEveryPyTorchCounts) {
  for (const char* name : {"convolutions", "transformer", "ranks", "values"}) {
    SCOPED_TRACE(name);
    const Ended ended = plan({}, {path("versions/" + std::string(name) + ".py")});
    ASSERT_EQ(ended.code, 0) << ended.err;
    const Json process = Json::parse(ended.out)["processes"][0];
    EXPECT_GT(process["peak_allocated_bytes"], 100'000);
    expect_printed_peaks(process, ended.err);
    if (std::string_view(name) != "convolutions") continue;
    EXPECT_EQ(process["latest_peak_allocated_bytes"], printed(ended.err, "allocated_latest"));
    EXPECT_EQ(process["latest_peak_reserved_bytes"], printed(ended.err, "reserved_latest"));
  }
}

TEST_F(PythonProgram, LoadsItsExpertsEvenly) {
  const Ended ended = plan({}, {path("experts.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  expect_printed_peaks(Json::parse(ended.out)["processes"][0], ended.err);
}

TEST_F(PythonProgram, MayKnowTheDriverAlone) {
  const Ended ended = plan({}, {path("driver_calls.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json process = Json::parse(ended.out)["processes"][0];
  const auto context = process["context_bytes"].get<std::int64_t>();
  EXPECT_EQ(process["driver_peak_bytes"], context + (std::int64_t{256} << 20));
  EXPECT_EQ(process["launches"], 1);
  EXPECT_EQ(process["refused_bytes"], std::int64_t{1} << 40);
}

TEST_F(PythonProgram, IsToldItsGpusByNvidiaSmi) {
  const Ended ended =
      plan({"--gpu", "l40s", "--ranks", "2"},
           {"-c",
            "import subprocess, torch\n"
            "def smi(*words):\n"
            "    return subprocess.check_output(['nvidia-smi', *words], text=True)\n"
            "assert smi('-L').startswith('GPU 0: NVIDIA L40S (UUID: GPU-'), smi('-L')\n"
            "assert smi().count('L40S') == 2\n"
            "words = ['--query-gpu=index,memory.total,memory.used,power.draw']\n"
            "table = smi(*words, '--format=csv').splitlines()\n"
            "total = torch.cuda.mem_get_info()[1] >> 20\n"
            "assert table[0] == 'index, memory.total [MiB], memory.used [MiB], power.draw'\n"
            "assert table[2] == f'1, {total} MiB, 0 MiB, [N/A]', table\n"
            "table = smi(*words, '--format=csv,noheader,nounits').splitlines()\n"
            "assert table[0] == f'0, {total}, 0, [N/A]', table\n"});
  EXPECT_EQ(ended.code, 0) << ended.err;
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
  const Json process = answer["processes"][0];
  EXPECT_EQ(
      process["missing_bytes"],
      process["without_end"]["driver_peak_bytes"].get<std::int64_t>() - (std::int64_t{3} << 30));
  EXPECT_GT(process["missing_bytes"], 0);
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

// PyTorch's thread for backward holds a gradient a little longer than the program waits for it.
TEST_F(PythonProgram, HasTheSamePeakInEachStep) {
  const Ended ended = plan({}, {"-c",
                                "import torch\n"
                                "weights = torch.ones(1 << 22, device='cuda', requires_grad=True)\n"
                                "gradient = torch.ones_like(weights)\n"
                                "peaks = set()\n"
                                "for _ in range(500):\n"
                                "    torch.cuda.reset_peak_memory_stats()\n"
                                "    torch.empty(1 << 26, device='cuda')\n"
                                "    torch.autograd.grad(weights * 2, weights, gradient)\n"
                                "    peaks.add(torch.cuda.max_memory_allocated())\n"
                                "print('peaks', len(peaks))\n"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "peaks"), 1);
}

// By hand: two products a step, forward and for the weights' gradient, at the rate of
// docs/time.md; what else the step does only reads and writes.
TEST_F(PythonProgram, TimesTheStepsOfItsOptimizer) {
  const Ended ended =
      plan({"--gpu", "h100"},
           {"-c",
            "import torch\n"
            "layer = torch.nn.Linear(8192, 8192, bias=False, dtype=torch.bfloat16, device='cuda')\n"
            "optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)\n"
            "x = torch.randn(8192, 8192, dtype=torch.bfloat16, device='cuda')\n"
            "for step in range(5):\n"
            "    layer(x).sum().backward()\n"
            "    optimizer.step()\n"
            "    optimizer.zero_grad()\n"
            "__import__('os')._exit(0)\n"});  // it has no last word
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto process = Json::parse(ended.out)["processes"][0];
  EXPECT_EQ(process["timed_steps"], 4);
  const double written = 2 * 8192.0 * 8192 / 3.35232e12 * 1e9;
  const double product = 2 * 8192.0 * 8192 * 8192 / (0.805 * 989.4e12) * 1e9 + written / 2 + 3500;
  EXPECT_NEAR(process["steps_product_ns"].get<double>() / 4, 2 * product, 10);
  EXPECT_GT(process["step_time_estimate_ns"], 2 * product);
  EXPECT_LT(process["step_time_estimate_ns"], 1.2 * 2 * product);
}

// By a usual and by a slow host, not by the fast one that decides the lower end. Each of the two
// threads calls a function of Python and one of C 10,000 times a step.
TEST_F(PythonProgram, TakesTheTimeOfWhatItsHostRunsInPython) {
  const Ended ended = plan({}, {"-c",
                                "import torch\n"
                                "def called(): return len('')\n"
                                "class Slow(torch.autograd.Function):\n"
                                "    @staticmethod\n"
                                "    def forward(context, x):\n"
                                "        for _ in range(10000): called()\n"
                                "        return x * 2\n"
                                "    @staticmethod\n"
                                "    def backward(context, gradient):\n"
                                "        for _ in range(10000): called()\n"
                                "        return gradient * 2\n"
                                "x = torch.ones(8, device='cuda', requires_grad=True)\n"
                                "optimizer = torch.optim.SGD([x], lr=0.1)\n"
                                "for step in range(5):\n"
                                "    Slow.apply(x).sum().backward()\n"
                                "    optimizer.step()\n"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json process = Json::parse(ended.out)["processes"][0];
  constexpr double kCalls = 4 * 10'000;
  const double launches = 500'000;  // some ten
  EXPECT_GT(process["step_time_estimate_ns"], kCalls * 400);
  EXPECT_LT(process["step_time_estimate_ns"], kCalls * 400 + launches);
  EXPECT_LT(process["step_time_estimate_lower_ns"], launches);
  EXPECT_GT(process["step_time_estimate_upper_ns"], kCalls * 650);
}

// PyTorch compiles the Bessel function where it is called first.
TEST_F(PythonProgram, LeavesOutAStepThatCompilesAKernel) {
  const Ended ended = plan({}, {"-c",
                                "import torch\n"
                                "x = torch.ones(8, device='cuda', requires_grad=True)\n"
                                "optimizer = torch.optim.SGD([x], lr=0.1)\n"
                                "for step in range(5):\n"
                                "    if step == 2:\n"
                                "        torch.special.spherical_bessel_j0(x.detach())\n"
                                "    x.sum().backward()\n"
                                "    optimizer.step()\n"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(Json::parse(ended.out)["processes"][0]["timed_steps"], 3);
}

// Images in float32, four dimensions: cuDNN's. By hand: the grid, what is sampled, and gradients.
TEST_F(PythonProgram, SamplesImages) {
  const Ended ended =
      plan({}, {"-c",
                "import torch\n"
                "image = torch.randn(8, 3, 64, 64, device='cuda', requires_grad=True)\n"
                "theta = torch.randn(8, 2, 3, device='cuda', requires_grad=True)\n"
                "before = torch.cuda.memory_allocated()\n"
                "grid = torch.nn.functional.affine_grid(theta, (8, 3, 32, 32))\n"
                "sampled = torch.nn.functional.grid_sample(image, grid, align_corners=True)\n"
                "print('sampled', sampled.untyped_storage().nbytes())\n"
                "sampled.sum().backward()\n"
                "print('allocated', torch.cuda.max_memory_allocated())\n"
                "print('reserved', torch.cuda.max_memory_reserved())\n"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "sampled"), 8 * 3 * 32 * 32 * 4);
  expect_printed_peaks(Json::parse(ended.out)["processes"][0], ended.err);
}

TEST_F(PythonProgram, FitsWhereItGoesOnWithLess) {
  const Ended ended = plan(
      {"--gpu-memory", "2GiB"},
      {"-c",
       "import torch\n"
       "try: torch.empty(4 << 30, device='cuda')\n"
       "except torch.OutOfMemoryError: print(torch.ones(9, device='cuda').erf().sum().item())"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Json answer = Json::parse(ended.out);
  EXPECT_EQ(answer["fits"], true);
  EXPECT_EQ(answer["processes"][0]["refused_bytes"], std::int64_t{16} << 30);  // floats
  EXPECT_EQ(answer["processes"][0]["values_read"], 1);
}

TEST_F(PythonProgram, NamesWhatCanNotBeFollowed) {
  const std::string begin = "import torch; x = torch.ones(9, 9, 9, device='cuda'); ";
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"x = torch.sparse_csr_tensor([0, 1], [0], [1.], (1, 1)).cuda(); "
       "torch.triangular_solve(torch.ones(1, 1, device='cuda'), x)",
       "it called cusparseSpMatSetAttribute"},
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

// The words are cudart's own, as on a GPU.
TEST_F(PythonProgram, CountsAGraphWhenItIsLaunchedAndBreaksItAsCudaDoes) {
  const Ended launched = plan({}, {path("record_graph.py")});
  ASSERT_EQ(launched.code, 0) << launched.err;
  const Json process = Json::parse(launched.out)["processes"][0];
  EXPECT_EQ(process["product_flops"], 3 * 2 * 1024LL * 1024 * 1024);
  const Ended asked = plan({}, {path("record_graph.py"), "ask"});
  EXPECT_NE(asked.code, 0);
  EXPECT_NE(asked.err.find("operation not permitted when stream is capturing"), std::string::npos)
      << asked.err;
  EXPECT_EQ(asked.err.find("not modelled"), std::string::npos) << asked.err;
}

TEST_F(PythonProgram, SaysThatAProgramOnTheCpuHasNothingToPlan) {
  const Ended ended = plan({}, {"-c", "import torch; torch.ones(3).sum()"});
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("used no CUDA device"), std::string::npos);
}

}  // namespace
}  // namespace headroom
