// SPDX-License-Identifier: Apache-2.0
// The command line with the test worker's catalog, for tests of the whole program.
#include "src/cli/command_line.h"

namespace headroom {
extern const std::string_view kTestCatalogJson;  // embedded by the build
}

int main(int argc, char** argv) {
  return headroom::run_command_line(argc, argv, headroom::kTestCatalogJson);
}
