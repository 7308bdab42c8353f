// SPDX-License-Identifier: Apache-2.0
// Programs that need more of CUDA and its libraries than kernels and products of matrices.
#include <algorithm>
#include <set>

#include "tests/program/python_program.h"

namespace headroom {
namespace {

// cuDNN is asked in a namespace of its own, and reads variables there when it compiles a kernel.
// Memory that held the variables before is what was allocated since.
TEST_F(PythonProgram, SetsVariablesBesideCudnn) {
  expect_to_hold(
      "import ctypes, os, torch\n"
      "os.environ['FIRST'] = '1'\n"
      "image = torch.randn(4, 128, 4, 4, device='cuda', requires_grad=True)\n"
      "torch.nn.Conv2d(128, 8, 3).cuda()(image)\n"
      "for i in range(8): os.environ[f'NEXT_{i}'] = '1'\n"
      "others = [ctypes.create_string_buffer(b'A' * size)\n"
      "          for size in range(256, 2048, 8) for _ in range(200)]\n"
      "layer = torch.nn.Conv2d(128, 128, 3, groups=128, padding=1, bias=False).cuda()\n"
      "layer(image.to(memory_format=torch.channels_last)).sum().backward()\n");
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

// The allocator asks with each block that it gives whether the other stream is done. No time passes
// for a host that queues nothing in between, as one does that makes the weights of a model.
TEST_F(PythonProgram, IsNotHeldUpByWhatItsAllocatorAsks) {
  expect_to_hold(
      "import torch\n"
      "side = torch.cuda.Stream()\n"
      "block = torch.ones(1 << 24, device='cuda')\n"
      "side.wait_stream(torch.cuda.current_stream())\n"
      "with torch.cuda.stream(side):\n"
      "    for _ in range(9): block.mul_(2)\n"
      "block.record_stream(side)\n"
      "del block\n"
      "weights = [torch.empty(1 << 10, device='cuda') for _ in range(100)]\n"
      "event = side.record_event()\n"
      "torch.empty(1 << 24, device='cuda')\n"  // beside the first
      "assert torch.cuda.memory_reserved() > 2 << 26, torch.cuda.memory_reserved()\n"
      "while not event.query(): pass\n");  // who asks itself waits
}

// Trainers set it for themselves, behind their imports; CUDA reads it as it begins.
TEST_F(PythonProgram, WaitsForEachKernelWhereCudaIsToldTo) {
  expect_to_hold(
      "import os, torch\n"
      "os.environ['CUDA_LAUNCH_BLOCKING'] = '1'\n"
      "side = torch.cuda.Stream()\n"
      "block = torch.empty(1 << 28, device='cuda')\n"
      "kept = torch.empty(1 << 28, pin_memory=True)\n"
      "with torch.cuda.stream(side):\n"
      "    block.mul_(2)\n"
      "    assert side.query()\n"
      "    kept.copy_(block, non_blocking=True)\n"
      "    assert not side.query()\n");
}

/// The plan of a convolution of 64 images with 32 channels of 128 x 128 numbers, and one of 64
/// channels with as many for its result; its filter has 3 x 3. `before`: what the program does
/// first; `change`: the last of an expression, of filter and images.
Json plan_of_convolution(const std::string& gpu, const std::string& change,
                         const std::string& before = "") {
  const std::string program = before +
                              "import torch\n"
                              "layer = torch.nn.Conv2d(32, 64, 3, padding=1, bias=False)" +
                              change +
                              ".cuda()\n"
                              "image = torch.ones(64, 32, 128, 128, device='cuda')" +
                              change +
                              "\n"
                              "torch.cuda.reset_peak_memory_stats()\n"
                              "with torch.no_grad(): layer(image)\n";
  const Ended ended = run_headroom(
      {"plan", "--gpu", gpu, "--json", "--", source(".deps/python/bin/python3"), "-c", program});
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out)["processes"].at(0);
}

constexpr std::int64_t kImages = 4LL * 64 * 32 * 128 * 128;
constexpr std::int64_t kResults = 2 * kImages;
constexpr std::int64_t kFilter = 4LL * 64 * 32 * 3 * 3;
constexpr std::int64_t kBlock = 512;  // of PyTorch's allocator: an engine wants a few bytes more

// By hand: cuDNN's best engine for an A100 works on copies of images and filter with the channels
// last; that for an H100 on one of its result as well, and on none where they are last already.
TEST_F(PythonProgram, TakesWorkAreasOfConvolutionsFromTheProgramsCudnn) {
  const auto peak = [](const std::string& gpu, const std::string& change) {
    const Json process = plan_of_convolution(gpu, change);
    EXPECT_EQ(process["reserved_depends_on_layouts"], false);
    EXPECT_FALSE(process.contains("estimated"));
    return process["latest_peak_allocated_bytes"].get<std::int64_t>();
  };
  const std::int64_t tensors = kImages + kFilter + kResults;
  EXPECT_EQ(peak("a100-80gb", ""), tensors + kImages + kFilter + kBlock);
  EXPECT_EQ(peak("h100", ""), tensors + kImages + kFilter + kResults + kBlock);
  EXPECT_EQ(peak("h100", ".to(memory_format=torch.channels_last)"), tensors + kBlock);
}

/// What a convolution takes beside its tensors, of numbers of 4 bytes.
std::int64_t work_area(const std::string& input, const std::string& filter,
                       const std::string& padding) {
  const std::string program =
      "import torch\n"
      "x = torch.ones(" +
      input +
      ", device='cuda')\n"
      "w = torch.ones(" +
      filter +
      ", device='cuda')\n"
      "y = torch.nn.functional.conv2d(x, w, padding=" +
      padding +
      ")\n"
      "print('area', torch.cuda.max_memory_allocated() - 4 * (x.numel() + w.numel() + "
      "y.numel()))\n";
  const Ended ended = run_headroom(
      {"plan", "--gpu", "h100", "--json", "--", source(".deps/python/bin/python3"), "-c", program});
  EXPECT_EQ(ended.code, 0) << ended.err;
  return printed(ended.err, "area");
}

// A window of one number is a product: nothing is copied. Of few points and many channels it is not
// cuDNN's first choice.
TEST_F(PythonProgram, MultipliesWhereAWindowIsOneNumber) {
  EXPECT_EQ(work_area("64, 256, 64, 64", "64, 256, 1, 1", "0"), kBlock);
  EXPECT_GT(work_area("64, 512, 7, 7", "2048, 512, 1, 1", "0"), 4LL * 64 * 512 * 7 * 7);
}

// By hand: copies of all three, and partial sums. Of the 49 x 4 tiles of 256 x 128 sums 64 are left
// behind the first 132; each is cut in two.
TEST_F(PythonProgram, KeepsPartialSumsOfTheLastTiles) {
  const std::int64_t copies = 4LL * (2 * 64 * 512 * 14 * 14 + 512 * 512 * 3 * 3);
  EXPECT_EQ(work_area("64, 512, 14, 14", "512, 512, 3, 3", "1"),
            copies + 64 * 2 * 4LL * 256 * 128 + kBlock);
}

// Of the engines for the gradients of this convolution others work in less.
TEST_F(PythonProgram, KeepsTheEngineThatCudnnRanksFirstOfThoseThatAProgramTries) {
  const auto planned = [](const std::string& tries) {
    const std::string program =
        "import torch\n"
        "torch.backends.cudnn.benchmark = " +
        tries +
        "\n"
        "layer = torch.nn.Conv2d(64, 128, 3, padding=1, bias=False).cuda()\n"
        "image = torch.ones(16, 64, 56, 56, device='cuda', requires_grad=True)\n"
        "for step in range(2):\n"
        "    torch.cuda.reset_peak_memory_stats()\n"
        "    layer(image).sum().backward()\n";
    const Ended ended = run_headroom({"plan", "--gpu", "a100-80gb", "--json", "--",
                                      source(".deps/python/bin/python3"), "-c", program});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(ended.out)["processes"].at(0);
  };
  const Json tried = planned("True");
  EXPECT_EQ(tried["latest_peak_allocated_bytes"], planned("False")["latest_peak_allocated_bytes"]);
  EXPECT_GT(tried["peak_allocated_bytes"], tried["latest_peak_allocated_bytes"]);
  EXPECT_EQ(tried["reserved_depends_on_engines"], true);
  EXPECT_EQ(tried["latest_peak_allocated_upper_bytes"], tried["latest_peak_allocated_bytes"]);
  setenv("HEADROOM_DRY_RUN_TRIED_ENGINES", "fastest", 1);
  const Json fastest = planned("True");
  unsetenv("HEADROOM_DRY_RUN_TRIED_ENGINES");
  EXPECT_FALSE(fastest.contains("latest_peak_allocated_lower_bytes"));  // what was chosen stays
  EXPECT_LT(fastest["latest_peak_allocated_bytes"], tried["latest_peak_allocated_bytes"]);
  EXPECT_EQ(tried["latest_peak_allocated_lower_bytes"], fastest["latest_peak_allocated_bytes"]);
}

// Five channels fill blocks of tensor cores so badly that the program keeps an engine without
// them, which cuDNN ranks behind. How it is ranked does not count any more once it is kept.
TEST_F(PythonProgram, TakesTheTimeOfTheEngineThatItKeeps) {
  const std::string program =
      "import torch\n"
      "torch.backends.cudnn.benchmark = True\n"
      "layer = torch.nn.Conv2d(5, 64, 3, padding=1, bias=False).cuda()\n"
      "optimizer = torch.optim.SGD(layer.parameters())\n"
      "image = torch.ones(256, 5, 224, 224, device='cuda')\n"
      "for step in range(3):\n"
      "    layer(image).sum().backward()\n"
      "    optimizer.step()\n";
  const auto step_ns = [&](const char* tried) {
    setenv("HEADROOM_DRY_RUN_TRIED_ENGINES", tried, 1);
    const Ended ended = run_headroom({"plan", "--gpu", "a100-80gb", "--json", "--",
                                      source(".deps/python/bin/python3"), "-c", program});
    unsetenv("HEADROOM_DRY_RUN_TRIED_ENGINES");
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(ended.out)["processes"].at(0)["step_time_estimate_ns"].get<double>();
  };
  const double fastest = step_ns("fastest");
  EXPECT_NEAR(step_ns("ranked"), fastest, 0.01 * fastest);
}

// By hand: it may copy images, result and filter, where their channels are not last and the GPU's
// tensor cores know TF32: those of a T4 don't.
TEST_F(PythonProgram, TellsTheBoundsOfCopiesWhereCudnnIsTooOldToBeAsked) {
  const auto planned = [](const std::string& gpu, const std::string& change) {
    return plan_of_convolution(gpu, change, "import ctypes; ctypes.CDLL('" OLD_CUDNN "')\n");
  };
  const Json process = planned("a100-80gb", "");
  EXPECT_EQ(process["reserved_depends_on_layouts"], true);
  EXPECT_EQ(process["estimated"], "engines of cuDNN (0)");
  EXPECT_EQ(process["peak_allocated_lower_bytes"], process["peak_allocated_bytes"]);
  EXPECT_EQ(process["peak_allocated_upper_bytes"],
            process["peak_allocated_bytes"].get<std::int64_t>() + kImages + kFilter + kResults);
  EXPECT_GT(process["peak_reserved_upper_bytes"], process["peak_reserved_lower_bytes"]);
  const std::string channels_last = ".to(memory_format=torch.channels_last)";
  EXPECT_EQ(planned("a100-80gb", channels_last)["reserved_depends_on_layouts"], false);
  EXPECT_EQ(planned("t4", "")["reserved_depends_on_layouts"], false);
  EXPECT_EQ(planned("t4", ".half()")["reserved_depends_on_layouts"], true);
}

// On an H100, with cuDNN 9.19. In 16 bits: gradients of 2 x 32 heads of 2,048 x 128, and of as many
// keys and values or a quarter, which are added up from those of each head. What both work in
// beside is one allocation. Lengths that are new wait for a kernel of their own.
TEST_F(PythonProgram, AttendsByCudnn) {
  const Ended ended = plan({"--gpu", "h100"}, {path("attention.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  constexpr std::int64_t kHeads = 2 * 2 * 32 * 2048 * 128;
  constexpr std::int64_t kSharedWork = (134'742'272 + 511) / 512 * 512;
  EXPECT_EQ(printed(ended.err, "shared"), kHeads + 2 * kHeads / 4 + kSharedWork);
  EXPECT_EQ(printed(ended.err, "own"), 3 * kHeads + kSharedWork - 2 * kHeads);
  EXPECT_EQ(Json::parse(ended.out)["processes"][0]["attention_kernels"], 2 + 2 * 2);
}

// By hand, in numbers of 4 bytes: of 35 steps of 20 samples 32 of output, and 4 x 32 of gates and
// 32 of cell that cuDNN keeps, with 256 bytes of its own; the first and last output and cell of 20
// samples. Of two layers also 32 that the first one gave, and a bit for each that dropout may drop.
// In blocks of 512 bytes.
TEST_F(PythonProgram, TrainsRecurrentNetworks) {
  const Ended ended = plan({"--gpu", "h100"}, {path("rnn_train.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  constexpr std::int64_t kNumbers = 35 * 20 * 32;
  const auto in_blocks = [](std::int64_t bytes) { return (bytes + 511) / 512 * 512; };
  EXPECT_EQ(printed(ended.err, "kept"),
            4 * kNumbers + in_blocks(4 * 5 * kNumbers + 256) + 4 * 4 * 20 * 32);
  constexpr std::int64_t kKept = 4 * (2 * 5 + 1) * kNumbers + kNumbers / 8 + 256;
  EXPECT_EQ(printed(ended.err, "dropping"), 4 * kNumbers + in_blocks(kKept) + 4 * 4 * 2 * 20 * 32);
}

// An H100 took 45,765,632 bytes for it, with cuDNN 9.19.
TEST_F(PythonProgram, WorksInWhatRecurrentNetworksTake) {
  const Ended ended = plan({"--gpu", "h100"}, {path("rnn_train.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json process = Json::parse(ended.out)["processes"][0];
  EXPECT_EQ(process["peak_allocated_bytes"], 45'765'632);
}

TEST_F(PythonProgram, TakesRecurrentNetworksStepByStep) {
  const Ended ended = plan({"--gpu", "h100"}, {path("recurrent_steps.py")});
  EXPECT_EQ(ended.code, 0) << ended.err;
}

// It ended with a segmentation fault while both found their threads' values by the same numbers.
TEST_F(PythonProgram, HasTwoCompilersInOneThread) {
  const Ended ended = plan({"--gpu", "h200"}, {path("two_compilers.py")});
  EXPECT_EQ(ended.code, 0) << ended.err;
}

// Complex numbers of 8 bytes: those that are transformed, and what comes of them. So few points
// need no work area.
TEST_F(PythonProgram, TransformsByFourier) {
  const Ended ended = plan({"--gpu", "a100-80gb"}, {path("fft.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "transform"), 2 * 64 * 1024 * 8);
  EXPECT_EQ(printed(ended.err, "gradients"), 8 * 3 * 224 * 224);
}

// Beside the matrix that is factored: pivots, whether it succeeded, and the work area, in blocks of
// 512 bytes.
TEST_F(PythonProgram, FactorsAndDecomposesMatrices) {
  const Ended ended = plan({"--gpu", "a100-80gb"}, {path("linear_algebra.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "lu"), 4 * 512 * 512 + 4 * 512 + 512 + 17 * 512);
  EXPECT_EQ(Json::parse(ended.out)["processes"][0]["estimated"], "cuSOLVER");
}

// What is computed, the zeros that PyTorch adds it to, and an index for each row, in blocks of 512
// bytes.
TEST_F(PythonProgram, MultipliesSparseMatrices) {
  const Ended ended = plan({"--gpu", "a100-80gb"}, {path("sparse.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "product"), 2 * 4 * 1000 * 64 + 8 * 512);
  EXPECT_EQ(printed(ended.err, "half"), 1024 * 1024 * 2 * 9 / 16);
  EXPECT_EQ(Json::parse(ended.out)["processes"][0]["estimated"],
            "cuSPARSE, cuSPARSELt, CTC of cuDNN");
}

// A tensor of 16 MiB is the sender's: the receiver holds what it makes of it, at most two.
TEST_F(PythonProgram, SharesTensorsWithAnotherProcess) {
  const Ended ended = plan({}, {path("shared_tensor.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json processes = Json::parse(ended.out)["processes"];
  ASSERT_EQ(processes.size(), 2U) << ended.out;
  std::multiset<std::int64_t> planned;
  for (const Json& process : processes) {
    planned.insert(process["peak_allocated_bytes"].get<std::int64_t>());
  }
  const std::multiset<std::int64_t> said{printed(ended.err, "allocated_parent"),
                                         printed(ended.err, "allocated_child")};
  EXPECT_EQ(planned, said);
  EXPECT_LE(printed(ended.err, "allocated_child"), 2 * (16 << 20));
}

// Parts of an H100 have a multiple of 8 of its multiprocessors, of which there are 132.
TEST_F(PythonProgram, RunsOnAPartOfTheMultiprocessors) {
  const Ended ended = plan({"--gpu", "h100"},
                           {"-c",
                            "import torch\n"
                            "from torch.cuda.green_contexts import GreenContext\n"
                            "layer = torch.nn.Linear(1024, 1024, device='cuda')\n"
                            "part = GreenContext.create(12, 0)\n"
                            "part.set_context()\n"
                            "layer(torch.ones(64, 1024, device='cuda')).sum().backward()\n"
                            "part.pop_context()\n"
                            "part.Stream().synchronize()\n"
                            "try: GreenContext.create(133, 0)\n"
                            "except RuntimeError: print('refused', 1)\n"
                            "print('allocated', torch.cuda.max_memory_allocated())\n"
                            "print('reserved', torch.cuda.max_memory_reserved(), flush=True)\n"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "refused"), 1) << ended.err;
  expect_printed_peaks(Json::parse(ended.out)["processes"][0], ended.err);
}

// As bitsandbytes takes it for paged optimizers: the host can write there, and PyTorch count none
// of it.
TEST_F(PythonProgram, HasManagedMemory) {
  const Ended ended = plan(
      {}, {"-c",
           "import ctypes, torch\n"
           "torch.ones(1, device='cuda')\n"
           "cuda = ctypes.CDLL(None)\n"
           "cuda.cudaMallocManaged.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint]\n"
           "address = ctypes.c_void_p()\n"
           "assert cuda.cudaMallocManaged(ctypes.addressof(address), 1 << 30, 1) == 0\n"
           "ctypes.memset(address, 7, 4096)\n"
           "cuda.cudaFree.argtypes = [ctypes.c_void_p]\n"
           "assert cuda.cudaFree(address) == 0\n"
           "assert cuda.cudaFree(address) != 0"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json process = Json::parse(ended.out)["processes"][0];
  EXPECT_EQ(process["peak_managed_bytes"], 1 << 30);
  EXPECT_LT(process["driver_peak_bytes"], 1 << 30);
}

}  // namespace
}  // namespace headroom
