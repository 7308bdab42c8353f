// SPDX-License-Identifier: Apache-2.0
#include "src/cli/command_line.h"

namespace headroom {
extern const std::string_view kCatalogJson;  // embedded by the build
}

int main(int argc, char** argv) {
  return headroom::run_command_line(argc, argv, headroom::kCatalogJson);
}
