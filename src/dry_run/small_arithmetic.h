// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "src/dry_run/known_bytes.h"

// Elementwise arithmetic on small tensors, by which networks compute the sizes and the rates of
// their layers. Logarithms and powers are rounded once; a GPU's may differ in the last bits.
namespace headroom::dry_run {

/// Brings what is known up to date with a launch of an elementwise kernel: with the results where
/// all that they are made of is known, else with that they are not. `owns`: whether an address is a
/// device's. False, and nothing is changed, where the operation is none that is followed, or its
/// arguments are not laid out as expected.
bool run_arithmetic(std::string_view name, void** arguments, KnownBytes& known,
                    bool (*owns)(const void* address));

}  // namespace headroom::dry_run
