// SPDX-License-Identifier: Apache-2.0
// Why a program reserves more than it allocates.
#include "tests/program/python_program.h"

namespace headroom {
namespace {

using PythonWhy = PythonProgram;

Json why(const std::vector<std::string>& program) {
  std::vector<std::string> words{"why", "--gpu", "t4", "--json", "--"};
  words.insert(words.end(), program.begin(), program.end());
  const Ended ended = run_headroom(words);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out);
}

std::int64_t reserved_mib(const Json& row) {
  return row.at("peak_reserved_bytes").get<std::int64_t>() >> 20;
}

// As its author saw on a GPU of 16 GB: https://github.com/pytorch/pytorch/pull/193400 has the
// figures, and says that with one of the two options less than 500 MiB are reserved.
TEST_F(PythonWhy, SaysWhatSomebodysIssueSays) {
  setenv("PYTORCH_ALLOC_CONF", "max_split_size_mb:128,expandable_segments:True", 1);
  const Ended ended = plan({"--gpu", "t4"}, {path("growing_reserve.py")});
  const Json answer = why({python(), path("growing_reserve.py")});
  unsetenv("PYTORCH_ALLOC_CONF");
  for (const char* line :
       {"cycle 0 66 220\n", "cycle 20 106 2980\n", "cycle 40 146 5760\n", "cycle 60 186 8520\n",
        "cycle 80 226 11300\n", "cycle 100 266 14060\n"}) {
    EXPECT_NE(ended.err.find(line), std::string::npos) << ended.err;
  }
  const Json& settings = answer["settings"];
  ASSERT_EQ(settings.size(), 5U);
  EXPECT_EQ(settings[0]["setting"], "max_split_size_mb:128,expandable_segments:True");
  EXPECT_EQ(reserved_mib(settings[0]), 14060);
  EXPECT_EQ(settings[1]["setting"], "expandable_segments:True");
  EXPECT_LT(reserved_mib(settings[1]), 500);
  EXPECT_EQ(settings[2]["setting"], "max_split_size_mb:128");
  EXPECT_LT(reserved_mib(settings[2]), 500);
  // 91 and 45.5 MiB, one behind the other, of each cycle but the last; the last one's part.
  const Json& peak = answer["process"]["reserved_peak"];
  EXPECT_EQ(peak["asked_bytes"], 91 << 19);
  EXPECT_EQ(peak["passed_over_pieces"], 100);
  EXPECT_GT(peak["passed_over_bytes"], std::int64_t{99} * 273 << 19);
}

// Ten pieces of 30 MiB, each in a segment of its own, of which five are free when 50 are asked for;
// of four of 5 MiB, which share a segment of 20, two are.
TEST_F(PythonWhy, NamesWhatIsFreeAndTooSmall) {
  const Json answer = why({python(), "-c",
                           "import torch\n"
                           "def block(mib): return torch.empty(mib << 18, device='cuda')\n"
                           "large = [block(30) for _ in range(10)]\n"
                           "small = [block(5) for _ in range(4)]\n"
                           "del large[::2], small[::2]\n"
                           "block(50)\n"});
  constexpr std::int64_t kMib = 1 << 20;
  const Json& peak = answer["process"]["reserved_peak"];
  EXPECT_EQ(peak["reserved_bytes"], 370 * kMib);
  EXPECT_EQ(peak["allocated_bytes"], (150 + 10 + 50) * kMib);
  EXPECT_EQ(peak["asked_bytes"], 50 * kMib);
  EXPECT_EQ(peak["too_small_pieces"], 7);
  EXPECT_EQ(peak["too_small_bytes"], (150 + 10) * kMib);
  EXPECT_EQ(peak["too_small_largest_bytes"], 30 * kMib);
  ASSERT_EQ(peak["neighbours"].size(), 1U) << "those of 30 MiB are alone in their segments";
  EXPECT_EQ(peak["neighbours"][0]["bytes"], 10 * kMib);
  EXPECT_EQ(answer["settings"][0]["setting"], "default");
}

}  // namespace
}  // namespace headroom
