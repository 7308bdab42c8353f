// SPDX-License-Identifier: Apache-2.0
#include "src/core/printable.h"

#include "src/core/checksum.h"

namespace headroom {

std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += "\\x" + to_hex(byte, 2);
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace headroom
