// SPDX-License-Identifier: Apache-2.0
// Programs that torch.compile makes kernels of.
#include <filesystem>

#include "tests/program/python_program.h"

namespace headroom {
namespace {

// The program compares the mask with the host's. By hand: four documents of 512 tokens have ten
// blocks of 128 x 128 each that are not empty, in four heads; forward is two products of each, and
// backward seven, as it computes the first once more for keys and once for queries.
TEST_F(PythonProgram, CountsCompiledAttentionByItsMask) {
  const Ended ended = plan({"--gpu", "h100"}, {path("compiled_attention.py")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  constexpr std::int64_t kProduct = std::int64_t{2} * 128 * 128 * 64;
  constexpr std::int64_t kBlocks = 4 * 4 * 10;
  constexpr std::int64_t kSteps = 4;
  EXPECT_EQ(Json::parse(ended.out)["processes"][0]["product_flops"],
            kSteps * kBlocks * (2 + 7) * kProduct);
}

// Kernels that were chosen by a plan's times are none for a GPU, and a plan is that of a first run.
TEST_F(PythonProgram, KeepsWhatItCompilesForOnePlan) {
  const auto folder = [&] {
    const Ended ended = plan({}, {"-c",
                                  "import os, torch\n"
                                  "torch.ones(1, device='cuda')\n"
                                  "print('folder', os.environ['TORCHINDUCTOR_CACHE_DIR'])\n"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    const std::size_t begin = ended.err.find("folder ") + 7;
    return ended.err.substr(begin, ended.err.find('\n', begin) - begin);
  };
  const std::string first = folder();
  EXPECT_FALSE(first.empty());
  EXPECT_FALSE(std::filesystem::exists(first));
  EXPECT_NE(folder(), first);
}

}  // namespace
}  // namespace headroom
