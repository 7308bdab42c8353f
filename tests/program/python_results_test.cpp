// SPDX-License-Identifier: Apache-2.0
// The plan of a program kept as results, and searches of what fits.
#include "tests/program/python_program.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

using PythonResults = PythonProgram;

TEST_F(PythonResults, IsKeptAsACaseIs) {
  const TemporaryFolder folder;
  const std::vector<std::string> program{"-c", "import torch; torch.empty(1 << 30, device='cuda')"};
  for (const char* night : {"old", "new"}) {
    const Ended ended = plan({"--out", folder / night, "--name", "mine"}, program);
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  const std::string csv = read_text(folder / "old/results.csv");
  EXPECT_NE(csv.find("mine,mine,mine,,planned,cuda,NVIDIA H200,1,,ok,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("," + std::to_string(std::int64_t{4} << 30) + ","), std::string::npos) << csv;
  const Ended verified = run_headroom({"verify", folder / "old"});
  EXPECT_EQ(verified.out.find("wrong"), std::string::npos) << verified.out;
  const Ended compared = run_headroom({"compare", folder / "old", folder / "new"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_EQ(compared.out, "1 case: 1 same\n");
  const Ended reported = run_headroom({"report", folder / "old", "--out", folder / "page.html"});
  EXPECT_EQ(reported.code, 0) << reported.err;
  EXPECT_EQ(plan({"--out", folder / "old"}, program).code, 2) << "there are results";
}

// Three steps, of which the second is the first with a state of the optimizer.
TEST_F(PythonResults, ShowsTheStepOfThePeakAndWhatPyTorchDid) {
  const TemporaryFolder folder;
  const Ended ended =
      plan({"--out", folder / "out", "--name", "mine", "--explain", "--snapshot"},
           {"-c",
            "import torch\n"
            "net = torch.nn.Linear(1024, 1024, device='cuda')\n"
            "optimizer = torch.optim.Adam(net.parameters())\n"
            "for _ in range(3):\n"
            "    net(torch.ones(1024, 1024, device='cuda')).relu().sum().backward()\n"
            "    optimizer.step()\n"
            "    optimizer.zero_grad()\n"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string journal = read_text(folder / "out/journal.jsonl");
  const auto begin = journal.find(R"("step_memory":[["forward",null,)");
  ASSERT_NE(begin, std::string::npos) << journal;
  const std::string step = journal.substr(begin, journal.find("]]", begin) - begin);
  EXPECT_NE(step.find(R"(["backward",null,)"), std::string::npos) << step;
  EXPECT_NE(step.find(R"(["optimizer",null,)"), std::string::npos) << step;
  const std::string snapshot = read_text(folder / "out/snapshot/mine.pickle");
  EXPECT_NE(snapshot.find("device_traces"), std::string::npos);
  const Ended reported = run_headroom({"report", folder / "out", "--out", folder / "page.html"});
  ASSERT_EQ(reported.code, 0) << reported.err;
  const std::string page = read_text(folder / "page.html");
  EXPECT_NE(page.find("Memory over a step of mine"), std::string::npos);
  EXPECT_NE(page.find("What holds the peak, by line"), std::string::npos);
  EXPECT_EQ(plan({"--snapshot"}, {"-c", "1"}).code, 2) << "in which folder?";
}

// N pieces of 256 MiB, beside the context.
TEST_F(PythonResults, FitsAsManyAsThereIsMemoryFor) {
  const std::vector<std::string> options{"fit", "--gpu", "h200", "--gpu-memory", "2GiB", "--json"};
  const std::vector<std::string> program{
      "--", python(), "-c",
      "import os, torch; n = {N}; assert os.environ['N'] == str(n)\n"
      "x = [torch.empty(1 << 26, device='cuda') for _ in range(n)]"};
  const auto fit = [&](const char* range) {
    std::vector<std::string> words = options;
    words.insert(words.end(), {"--vary", range});
    words.insert(words.end(), program.begin(), program.end());
    return run_headroom(words);
  };
  const Ended ended = fit("N=4..9");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json answer = Json::parse(ended.out);
  const Json first = answer["plans"][0];
  const std::int64_t piece = std::int64_t{256} << 20;
  const std::int64_t rest = first["driver_peak_bytes"].get<std::int64_t>() - 4 * piece;
  const std::int64_t most = (first["total_bytes"].get<std::int64_t>() - rest) / piece;
  EXPECT_EQ(first["value"], 4);
  EXPECT_EQ(answer["largest"], most) << ended.out;
  const Ended none = fit("N=30..40");
  EXPECT_EQ(none.code, 1) << none.err;
  EXPECT_EQ(Json::parse(none.out)["largest"], nullptr);
  EXPECT_EQ(fit("N=x").code, 2);
}

TEST_F(PythonResults, SaysHowLongAStepOfWhatFitsTakes) {
  const auto fit = [](const std::string& memory) {
    const Ended ended =
        run_headroom({"fit", "--gpu", "h200", "--gpu-memory", memory, "--json", "--vary",
                      "N=12..12", "--", python(), "-c",
                      "import torch\n"
                      "x = torch.nn.Parameter(torch.ones(1 << {N}, 1 << {N}, device='cuda'))\n"
                      "optimizer = torch.optim.SGD([x], lr=1)\n"
                      "for _ in range(3): (x @ x).sum().backward(); optimizer.step()"});
    return Json::parse(ended.out)["plans"][0];
  };
  const Json plan = fit("8GiB");
  ASSERT_EQ(plan["fits"], true) << plan;
  // Three products of 4096 numbers in float32, at no more than the peak.
  const double least_ns = 3 * 2.0 * 4096 * 4096 * 4096 / 66.9e12 * 1e9;
  EXPECT_GT(plan["step_time_estimate_ns"], least_ns);
  EXPECT_LT(plan["step_time_estimate_ns"], 3 * least_ns);
  EXPECT_LE(plan["step_time_estimate_lower_ns"], plan["step_time_estimate_ns"]);
  EXPECT_GE(plan["step_time_estimate_upper_ns"], plan["step_time_estimate_ns"]);
  const Json none = fit("1GiB");
  ASSERT_EQ(none["fits"], false) << none;
  EXPECT_FALSE(none.contains("step_time_estimate_ns"));
}

// 4 GiB over all ranks, of GPUs with 2.
TEST_F(PythonResults, FitsOnAsFewRanksAsHaveTheMemory) {
  const auto fit = [](const char* ranks) {
    return run_headroom({"fit", "--gpu", "h200", "--gpu-memory", "2GiB", "--json", "--rank", "0",
                         "--ranks", ranks, "--", python(), "-c",
                         "import os, torch; n = int(os.environ['WORLD_SIZE'])\n"
                         "assert n == {RANKS} == int(os.environ['RANKS'])\n"
                         "torch.empty((1 << 30) // n, device='cuda')"});
  };
  const Ended ended = fit("2..64");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json answer = Json::parse(ended.out);
  EXPECT_EQ(answer["ranks"], 4);
  EXPECT_EQ(answer["plans"].size(), 2U);
  const Ended none = fit("1..1");
  EXPECT_EQ(none.code, 1) << none.err;
  EXPECT_EQ(Json::parse(none.out)["ranks"], nullptr);
  EXPECT_EQ(fit("4..2").code, 2);
}

}  // namespace
}  // namespace headroom
