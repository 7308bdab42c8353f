// SPDX-License-Identifier: Apache-2.0
#include "src/core/checksum.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

// The check value of the CRC catalogue, and values of Python's zlib.crc32.
TEST(Checksum, Crc32IsThatOfZlib) {
  EXPECT_EQ(crc32("123456789"), 0xCBF43926u);
  EXPECT_EQ(crc32(""), 0u);
  EXPECT_EQ(crc32("a"), 0xE8B7BE43u);
  EXPECT_EQ(crc32(std::string(32, '\xFF')), 0xFF6CAB0Bu);
}

// The published test vectors of 64-bit FNV-1a.
TEST(Checksum, FingerprintIsFnv1a) {
  EXPECT_EQ(fingerprint(""), "cbf29ce484222325");
  EXPECT_EQ(fingerprint("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(fingerprint("foobar"), "85944171f73967e8");
}

TEST(Checksum, HexHasLeadingZeros) {
  EXPECT_EQ(to_hex(0xBEEF, 8), "0000beef");
  EXPECT_EQ(to_hex(~std::uint64_t{0}, 16), "ffffffffffffffff");
}

}  // namespace
}  // namespace headroom
