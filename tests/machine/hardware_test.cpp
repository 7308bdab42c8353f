// SPDX-License-Identifier: Apache-2.0
#include "src/machine/hardware.h"

#include <ATen/cpu/Utils.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include <nlohmann/json.hpp>

#include "src/core/hidden_tiles.h"

namespace headroom {
namespace {

TEST(CpuProducts, AreNativeWhereTheProcessorHasInstructionsForThem) {
  const std::string zen_4 = "fpu f16c avx2 avx512f avx512bw avx512_bf16 avx512_vnni";
  EXPECT_EQ(products_by_flags(zen_4, "bfloat16"), "native");
  EXPECT_EQ(products_by_flags(zen_4, "float16"), "emulated");
  const std::string cascade_lake = "fpu f16c avx2 avx512f avx512bw avx512_vnni";
  EXPECT_EQ(products_by_flags(cascade_lake, "bfloat16"), "emulated");
  EXPECT_EQ(products_by_flags(cascade_lake, "float16"), "emulated");
  const std::string sapphire_rapids = cascade_lake + " avx512_bf16 amx_tile amx_bf16 avx512_fp16";
  EXPECT_EQ(products_by_flags(sapphire_rapids, "bfloat16"), "native");
  EXPECT_EQ(products_by_flags(sapphire_rapids, "float16"), "native");
  EXPECT_EQ(products_by_flags("fpu avx512_bf16_of_tomorrow", "bfloat16"), "emulated");
}

TEST(CpuProducts, AreNotKnownOfAProcessorWithoutFlagsAndOfAGpu) {
  EXPECT_EQ(products_by_flags("", "bfloat16"), std::nullopt);
  EXPECT_EQ(cpu_products(c10::Device("cuda:0"), "bfloat16"), std::nullopt);
}

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 11  // those of before do not say it
TEST(CpuProducts, AreAsLibTorchSeesThisProcessor) {
  const auto capabilities = at::cpu::get_cpu_capabilities();
  const auto has = [&](const char* name) {
    const auto found = capabilities.find(name);
    return found != capabilities.end() && found->second.toBool();
  };
  if (!has("avx2")) GTEST_SKIP() << "no x86 of today";
  const bool bfloat16 = has("avx512_bf16") || has("amx_bf16");
  const bool float16 = has("avx512_fp16") || has("amx_fp16");
  const c10::Device cpu(c10::kCPU);
  EXPECT_EQ(cpu_products(cpu, "bfloat16"), bfloat16 ? "native" : "emulated");
  EXPECT_EQ(cpu_products(cpu, "float16"), float16 ? "native" : "emulated");
}
#endif

TEST(HiddenTiles, AreNotUsedAndDoctorSaysSo) {
  const at::Tensor ones = at::ones({64, 64}, at::kBFloat16);
  EXPECT_EQ(at::matmul(ones, ones)[0][0].item<float>(), 64);  // SIGILL where they are used
  EXPECT_EQ(describe_hardware().contains("unusable_tiles"), hides_tiles());
}

}  // namespace
}  // namespace headroom
