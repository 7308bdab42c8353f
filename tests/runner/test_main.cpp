// SPDX-License-Identifier: Apache-2.0
// The command line with the test worker's catalog, for tests of the whole program.
#include <cstdlib>
#include <string>
#include <string_view>

#include "src/cli/program.h"

namespace headroom {
extern const std::string_view kTestCatalogJson;  // embedded by the build
}

// With the variable TEST_CUDA that of a LibTorch with CUDA.
int main(int argc, char** argv) {
  std::string catalog(headroom::kTestCatalogJson);
  const std::string without = "\"cuda_built\": false";
  if (std::getenv("TEST_CUDA") != nullptr) {
    catalog.replace(catalog.find(without), without.size(), "\"cuda_built\": true");
  }
  return headroom::run_command_line(argc, argv, catalog);
}
