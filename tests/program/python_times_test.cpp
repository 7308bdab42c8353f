// SPDX-License-Identifier: Apache-2.0
// How long a program's kernels take, by hand.
#include "tests/program/python_program.h"

namespace headroom {
namespace {

/// Of a program of five steps, the first of which is not timed.
double ns_of_step(const Ended& ended, const char* kind) {
  const Json process = Json::parse(ended.out)["processes"][0];
  EXPECT_EQ(process["timed_steps"], 4);
  return process[kind].get<double>() / 4;
}

// What PyTorch's own kernels move, by hand, where memory decides: numbers of 16 bits and a row of
// 8,192 for each of theirs become numbers of 32 bits; and two channels that are normalized by a
// mean of before are read and written.
TEST_F(PythonProgram, MovesWhatManyThreadsAskForOnce) {
  const Ended ended = plan({"--gpu", "rtx-4090"},
                           {"-c",
                            "import torch\n"
                            "mark = torch.optim.SGD([torch.nn.Parameter(torch.empty(1))], lr=1.0)\n"
                            "x = torch.empty(8192, 8192, dtype=torch.half, device='cuda')\n"
                            "row = torch.empty(8192, device='cuda')\n"
                            "norm = torch.nn.BatchNorm2d(2).cuda().half().eval()\n"
                            "pictures = torch.empty(256, 2, 512, 512, dtype=torch.half,\n"
                            "                       device='cuda')\n"
                            "with torch.no_grad():\n"
                            "    for step in range(5):\n"
                            "        x * row\n"
                            "        norm(pictures)\n"
                            "        mark.step()\n"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const double bytes = (2.0 + 4) * 8192 * 8192 + 2.0 * 2 * 256 * 2 * 512 * 512;
  const double moved = bytes / (0.9 * 1008.096e9) * 1e9;
  EXPECT_NEAR(ns_of_step(ended, "steps_memory_ns"), moved, 0.05 * moved);
}

// A lane computes 16 instructions for each place of 7 x 7 windows, of 96 channels as of 128, 128 x
// 128 lanes at a time; in a clock of 2.52 GHz.
TEST_F(PythonProgram, TakesTheTimeOfWideWindows) {
  const Ended ended =
      plan({"--gpu", "rtx-4090"},
           {"-c",
            "import torch\n"
            "mark = torch.optim.SGD([torch.nn.Parameter(torch.empty(1))], lr=1.0)\n"
            "layer = torch.nn.Conv2d(96, 96, 7, padding=3, groups=96, bias=False)\n"
            "layer = layer.cuda().half().to(memory_format=torch.channels_last)\n"
            "pictures = torch.empty(64, 96, 56, 56, dtype=torch.half, device='cuda',\n"
            "                       memory_format=torch.channels_last)\n"
            "with torch.no_grad():\n"
            "    for step in range(5):\n"
            "        layer(pictures)\n"
            "        mark.step()\n"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const double places = 64.0 * 128 * 56 * 56 * 7 * 7;
  const double computed = 16 * places / (128 * 128 * 2.52);
  EXPECT_NEAR(ns_of_step(ended, "steps_attention_ns"), computed, 0.02 * computed);
}

// cuDNN goes over numbers whose channels are last three times forward and five times backward, by
// vectors: an H200 has multiprocessors for less than a third of that where a channel has a block.
TEST_F(PythonProgram, ReadsVectorsOfChannelsThatAreLast) {
  const Ended ended =
      plan({"--gpu", "h200"},
           {"-c",
            "import torch\n"
            "norm = torch.nn.BatchNorm2d(256).cuda()\n"
            "optimizer = torch.optim.SGD(norm.parameters(), lr=1.0)\n"
            "pictures = torch.empty(256, 256, 56, 56, dtype=torch.half, device='cuda',\n"
            "                       memory_format=torch.channels_last, requires_grad=True)\n"
            "for step in range(5):\n"
            "    pictures.grad = None\n"
            "    y = norm(pictures)\n"
            "    y.backward(y.detach())\n"
            "    optimizer.step()\n"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const double moved = 8.0 * 2 * 256 * 256 * 56 * 56 / (0.92 * 4.8e12) * 1e9;
  EXPECT_NEAR(ns_of_step(ended, "steps_memory_ns"), moved, 0.05 * moved);
}

// 64 MiB from and to memory that is not pinned go through the driver's, at the pace of the host,
// and pinned ones by 0.8 of the link's 64 GB/s. A GH200 reads the former where they are. A list of
// 4 KB is queued as any other work.
TEST_F(PythonProgram, WaitsForCopiesOfWhatIsNotPinned) {
  const auto step_ns = [&](const char* copy, const char* gpu = "h100") {
    const Ended ended =
        plan({"--gpu", gpu},
             {"-c", std::string("import torch\n"
                                "mark = torch.optim.SGD([torch.nn.Parameter(torch.empty(1))],"
                                " lr=1.0)\n"
                                "pageable = torch.empty(1 << 26, dtype=torch.uint8)\n"
                                "pinned, device = pageable.pin_memory(), pageable.cuda()\n"
                                "for step in range(5):\n"
                                "    ") +
                        copy + "\n    mark.step()\n"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(ended.out)["processes"][0]["step_time_estimate_ns"].get<double>();
  };
  constexpr double kBytes = 1 << 26;
  EXPECT_NEAR(step_ns("pageable.cuda()"), kBytes / 5, 0.02 * kBytes / 5);
  EXPECT_NEAR(step_ns("pageable.cuda(non_blocking=True)"), kBytes / 5, 0.02 * kBytes / 5);
  EXPECT_NEAR(step_ns("device.cpu()"), kBytes / 3, 0.02 * kBytes / 3);
  EXPECT_NEAR(step_ns("pinned.cuda()"), kBytes / 51.2, 0.1 * kBytes / 51.2);
  EXPECT_LT(step_ns("pageable.cuda()", "gh200"), kBytes / 51.2);
  EXPECT_LT(step_ns("pageable[:4096].cuda(non_blocking=True)"), 100'000);
}

// PyTorch asks for devices without the interpreter where memory is pinned first.
TEST_F(PythonProgram, CountsStepsWhereItPinsMemoryFirst) {
  const Ended ended = plan({"--gpu", "h100", "--steps", "3"},
                           {"-c",
                            "import torch\n"
                            "images = torch.empty(1 << 20).pin_memory()\n"
                            "weight = torch.nn.Parameter(torch.zeros(1 << 20, device='cuda'))\n"
                            "optimizer = torch.optim.SGD([weight], lr=1.0)\n"
                            "for step in range(9):\n"
                            "    (images.cuda() * weight).sum().backward()\n"
                            "    optimizer.step()\n"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(Json::parse(ended.out)["processes"][0]["timed_steps"], 2);
}

// Plain networks of a layer for 8 samples, forward, of 1,000 steps: the matrix of 128 numbers is in
// registers, that of 360 is read in each step, and that of 512 is multiplied by kernels that wait
// for each other.
TEST_F(PythonProgram, TakesTheTimeOfEachStepOfARecurrentNetwork) {
  const auto step_ns = [&](int hidden) {
    const Ended ended = plan(
        {"--gpu", "h100"}, {"-c",
                            "import torch\n"
                            "mark = torch.optim.SGD([torch.nn.Parameter(torch.empty(1))], lr=1.0)\n"
                            "layer = torch.nn.RNN(16, " +
                                std::to_string(hidden) +
                                ").cuda()\n"
                                "words = torch.empty(1000, 8, 16, device='cuda')\n"
                                "for step in range(5):\n"
                                "    layer(words)\n"
                                "    mark.step()\n"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return (ns_of_step(ended, "steps_product_ns") + ns_of_step(ended, "steps_memory_ns")) / 1000;
  };
  EXPECT_NEAR(step_ns(128), 400 + 128 * 128 * 4 / 250.0, 100);
  EXPECT_NEAR(step_ns(360), 400 + 360 * 360 * 4 / 60.0, 100);
  EXPECT_NEAR(step_ns(512), 8000, 2000);
}

}  // namespace
}  // namespace headroom
