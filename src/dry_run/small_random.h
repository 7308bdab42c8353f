// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "src/dry_run/known_bytes.h"

// Kernels of PyTorch that draw numbers by chance: torch.rand, randn, randint, exponential_,
// bernoulli_, and what makes a permutation of them. The generator's state is the program's own, so
// that they are those that a GPU would draw; those that go by a logarithm or a sine may differ in
// the last bits.
namespace headroom::dry_run {

/// By the kernel's mangled name.
bool is_random(const char* name);

/// Brings what is known up to date with a launch of one, in so many threads in all. False: its
/// arguments are not laid out as expected, or there are more than a few thousand numbers.
bool run_random(const char* name, void** arguments, std::uint64_t threads, KnownBytes& known,
                bool (*owns)(const void* address));

}  // namespace headroom::dry_run
