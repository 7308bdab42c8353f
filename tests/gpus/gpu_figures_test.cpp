// SPDX-License-Identifier: Apache-2.0
#include "src/gpus/gpu_figures.h"

#include <gtest/gtest.h>

namespace headroom::dry_run {
namespace {

const GpuFigure& figure_of(const std::string& name) {
  for (const GpuFigure& figure : gpu_figures()) {
    if (figure.name == name) return figure;
  }
  throw std::logic_error("no figure " + name);
}

TEST(GpuFigures, come_back_from_the_text_of_any_gpu) {
  for (const Gpu& gpu : gpu_table()) {
    Gpu renamed = gpu;
    const std::string name = "test-of-" + std::string(gpu.name);
    renamed.name = name;
    const Gpu* read = add_gpu(gpu_text(renamed));
    ASSERT_NE(read, nullptr) << gpu.name;
    EXPECT_EQ(find_gpu(name), read);
    EXPECT_STREQ(read->product, gpu.product);
    for (const GpuFigure& figure : gpu_figures()) {
      EXPECT_EQ(figure.of(*read), figure.of(gpu)) << gpu.name << " " << figure.name;
    }
    EXPECT_NE(find_gpu(gpu.name), read);
  }
}

TEST(GpuFigures, set_what_they_say) {
  Gpu gpu = *find_gpu("h100");
  figure_of("memory_bytes").set(gpu, 5);
  figure_of("capability_minor").set(gpu, 6);
  figure_of("products_share").set(gpu, 0.25);
  EXPECT_EQ(gpu.memory_bytes, 5);
  EXPECT_EQ(gpu.capability.minor, 6);
  EXPECT_EQ(gpu.products.share, 0.25);
  EXPECT_TRUE(figure_of("multiprocessors").is_whole);
  EXPECT_EQ(figure_of("multiprocessors").most, 2147483647);
  EXPECT_FALSE(figure_of("float32_flops").is_whole);
}

TEST(GpuFigures, are_of_the_gpu_that_was_added_last) {
  Gpu gpu = *find_gpu("t4");
  gpu.name = "test-again";
  add_gpu(gpu_text(gpu));
  gpu.memory_bytes = 7;
  EXPECT_EQ(find_gpu("test-again"), add_gpu(gpu_text(gpu)));
  EXPECT_EQ(find_gpu("test-again")->memory_bytes, 7);
}

TEST(GpuFigures, are_all_in_a_text) {
  const std::string whole = gpu_text(*find_gpu("h100"));
  EXPECT_EQ(add_gpu("h100"), nullptr);
  EXPECT_EQ(add_gpu(""), nullptr);
  EXPECT_EQ(add_gpu(whole.substr(0, whole.rfind("peer_bytes"))), nullptr);
  std::string wrong = whole;
  wrong.replace(wrong.find("l2_bytes=") + 9, 1, "x");
  EXPECT_EQ(add_gpu(wrong), nullptr);
}

}  // namespace
}  // namespace headroom::dry_run
