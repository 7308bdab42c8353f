// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace headroom {

/// What a linker wrote into a program or library so that no other one has it (`ld --build-id`), as
/// its bytes. Empty: there is none, or it is no 64-bit ELF file of this machine's byte order.
/// Throws std::system_error where the file can't be opened or read.
std::string build_id_of(const std::string& path);

}  // namespace headroom
