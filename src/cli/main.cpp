// SPDX-License-Identifier: Apache-2.0
#include "src/cli/program.h"
#include "src/core/hidden_tiles.h"

namespace headroom {
extern const std::string_view kCatalogJson;  // embedded by the build
}

int main(int argc, char** argv) {
  headroom::do_without_hidden_tiles();  // of workers and planned programs, which inherit it
  return headroom::run_command_line(argc, argv, headroom::kCatalogJson);
}
