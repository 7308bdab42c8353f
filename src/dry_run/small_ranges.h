// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/dry_run/known_bytes.h"

// torch.arange and torch.linspace, made on the device: networks take rates for their layers out of
// one as they are built (stochastic depth), and have other layers where a rate is 0.
namespace headroom::dry_run {

/// By the kernel's mangled name: a range of a type that is followed.
bool is_range(const char* name);

/// Brings what is known up to date with a launch of one. `owns`: whether an address is a device's.
/// False where the arguments are not laid out as expected.
bool run_range(const char* name, void** arguments, KnownBytes& known,
               bool (*owns)(const void* address));

}  // namespace headroom::dry_run
