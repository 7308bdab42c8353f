// SPDX-License-Identifier: Apache-2.0
#include "src/cli/gpu_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "src/core/error.h"
#include "src/gpus/gpu_figures.h"
#include "src/runner/gpu_json.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

class GpuFile : public testing::Test {
 protected:
  const dry_run::Gpu& read(const std::string& text) const {
    return read_gpu_file(folder.write("gpu.yaml", text));
  }
  /// What the message says behind the file's name; empty: the file was taken.
  std::string error_of(const std::string& text) const {
    try {
      read(text);
    } catch (const ConfigError& error) {
      const std::string what = error.what();
      return what.substr(what.find("gpu.yaml:") + std::string("gpu.yaml:").size());
    }
    return "";
  }

  const TemporaryFolder folder;
};

TEST_F(GpuFile, changes_single_figures_of_a_gpu_of_the_table) {
  const dry_run::Gpu& gpu = read(
      "name: test-capped\nlike: h100\nmemory_bytes_per_second: 2.4e12\nproduct: H100, 500 W\n");
  const dry_run::Gpu& h100 = *dry_run::find_gpu("h100");
  EXPECT_EQ(dry_run::find_gpu("test-capped"), &gpu);
  EXPECT_EQ(gpu.memory_bytes_per_second, 2.4e12);
  EXPECT_STREQ(gpu.product, "H100, 500 W");
  for (const dry_run::GpuFigure& figure : dry_run::gpu_figures()) {
    if (std::string(figure.name) == "memory_bytes_per_second") continue;
    EXPECT_EQ(figure.of(gpu), figure.of(h100)) << figure.name;
  }
}

TEST_F(GpuFile, is_an_entry_of_the_list_with_another_name) {
  const dry_run::Gpu& b200 = *dry_run::find_gpu("b200");
  nlohmann::ordered_json entry = {{"name", "test-whole"}, {"summary", "one more"}};
  entry.update(figures_of(b200));
  const dry_run::Gpu& gpu = read(entry.dump());
  EXPECT_EQ(figures_of(gpu), figures_of(b200));
  EXPECT_STREQ(gpu.product, "test-whole");
}

TEST_F(GpuFile, is_refused_where_a_figure_makes_no_sense) {
  const std::string like = "name: test-wrong\nlike: h100\n";
  EXPECT_EQ(error_of(like + "memory_bytes: 1.5\n"),
            "3:15: memory_bytes: '1.5' is not a whole number above 0");
  EXPECT_EQ(error_of(like + "float32_flops: 0\n"),
            "3:16: float32_flops: '0' is not a number above 0");
  EXPECT_EQ(error_of(like + "bfloat16_flops: -1\n"),
            "3:17: bfloat16_flops: '-1' is not a number from 0");
  EXPECT_EQ(error_of(like + "bfloat16_flops: 0\n"), "");
  EXPECT_EQ(error_of(like + "products_share: 1.1\n"),
            "3:17: products_share: '1.1' is not a number above 0 up to 1");
  EXPECT_EQ(error_of(like + "multiprocessors: 3000000000\n"),
            "3:18: multiprocessors: '3000000000' is not a whole number above 0 up to 2147483647");
  EXPECT_EQ(error_of(like + "context_bytes: 99999999999999\n"),
            "1:1: context_bytes is no less than memory_bytes");
  EXPECT_EQ(error_of(like + "l2_bytes: [1]\n"),
            "3:11: l2_bytes: a text of one line is expected, not a list");
}

TEST_F(GpuFile, is_refused_where_it_is_not_whole_or_says_too_much) {
  EXPECT_TRUE(error_of("name: test-part\n").starts_with("1:1: memory_bytes is missing; "));
  EXPECT_EQ(error_of("like: h100\n"), "1:1: the GPU has no name");
  EXPECT_EQ(error_of("name: h100\nlike: h200\n"),
            "1:7: the table has a GPU 'h100' (headroom list gpus)");
  EXPECT_TRUE(error_of("name: a b\nlike: h100\n").starts_with("1:7: 'a b' is no name; "));
  EXPECT_TRUE(
      error_of("name: test-a\nlike: h100\nproduct: 'a \"b\"'\n").starts_with("3:10: product: "));
  EXPECT_TRUE(error_of("name: test-a\nlike: h101\n").starts_with("2:7: no GPU 'h101'; "));
  EXPECT_TRUE(error_of("name: test-a\nlike: h100\nmemory: 1\n")
                  .starts_with("3:1: unknown key 'memory' in the GPU; "));
}

TEST(IsGpuFile, tells_a_file_from_a_name) {
  EXPECT_TRUE(is_gpu_file("gpus/mine"));
  EXPECT_TRUE(is_gpu_file("mine.yaml"));
  EXPECT_TRUE(is_gpu_file("mine.json"));
  EXPECT_FALSE(is_gpu_file("h100"));
  EXPECT_FALSE(is_gpu_file("a100-40gb"));
}

}  // namespace
}  // namespace headroom
