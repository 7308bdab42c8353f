// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Checksums against accidents, not against an adversary.
namespace headroom {

/// CRC-32 as in zlib, gzip and PNG (reflected polynomial 0xEDB88320).
std::uint32_t crc32(std::string_view bytes);

/// A 64-bit hash of the bytes (FNV-1a), as 16 lower-case hexadecimal digits. The same everywhere.
std::string fingerprint(std::string_view bytes);

/// `value` as `digits` lower-case hexadecimal digits, with leading zeros; at most 16.
std::string to_hex(std::uint64_t value, int digits);

}  // namespace headroom
