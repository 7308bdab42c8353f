// SPDX-License-Identifier: Apache-2.0
// What libFuzzer calls. FUZZ_TARGET is the function of the target that the program is of.
#include <cstddef>
#include <cstdint>

#include "tests/campaign/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  headroom::FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
