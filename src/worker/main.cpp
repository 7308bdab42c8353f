// SPDX-License-Identifier: Apache-2.0
// The worker: one request in, one record out. See docs/protocol.md.
#include <c10/util/Exception.h>

#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "src/core/error.h"
#include "src/memory/host_memory.h"
#include "src/memory/saved_tensors.h"
#include "src/worker/answer.h"
#include "src/worker/catalog.h"

int main(int count, char** arguments) {
  if (count == 2 && std::string(arguments[1]) == "--catalog") {
    std::cout << headroom::make_catalog().dump(1) << "\n" << std::flush;
    return std::cout.good() ? 0 : 1;
  }
  if (count != 1) {
    std::cerr
        << "headroom-worker is started by headroom; by hand only: headroom-worker --catalog\n";
    return 2;
  }
  headroom::keep_freed_pages();
  headroom::install_saved_tensor_hooks();
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  headroom::answer(nlohmann::ordered_json::parse(text));
  return 0;
}
