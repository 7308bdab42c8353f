// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "src/runner/row_of_case.h"

namespace headroom {
namespace {

TEST(EnvironmentOf, holds_the_variables_that_can_change_a_number) {
  const std::vector<std::string> names = {
      "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "KMP_AFFINITY",
      "GOMP_CPU_AFFINITY",   "OMP_PROC_BIND",      "MALLOC_ARENA_MAX", "GLIBC_TUNABLES",
      "LD_PRELOAD",          "LD_LIBRARY_PATH"};
  for (const std::string& name : names) setenv(name.c_str(), "", 1);
  setenv("LD_PRELOADED", "no such variable", 1);
  const auto variables = environment_of(Catalog{}, nullptr).at("variables");
  for (const std::string& name : names) {
    EXPECT_TRUE(variables.contains(name)) << name;
    unsetenv(name.c_str());
  }
  EXPECT_FALSE(variables.contains("LD_PRELOADED"));
  unsetenv("LD_PRELOADED");
}

}  // namespace
}  // namespace headroom
