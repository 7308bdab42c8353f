// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace headroom {

/// The most resident memory of this process so far (VmHWM): code and libraries included.
/// Empty where the system does not tell.
std::optional<std::int64_t> host_peak_bytes();

/// Memory the process may still take: what the system and its control group have free.
std::optional<std::int64_t> available_host_bytes();

/// Makes an allocation beyond `bytes` of private memory fail inside this process, where it can be
/// answered, and not by the kernel's killing it. Throws std::system_error.
void limit_host_memory(std::int64_t bytes);

}  // namespace headroom
