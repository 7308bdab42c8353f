// SPDX-License-Identifier: Apache-2.0
#include "src/core/github.h"

#include "src/core/checksum.h"

namespace headroom {
namespace {

/// With the characters that end a text there, or mean something in it, as %25.
std::string escape(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) == std::string_view::npos) {
      escaped += c;
    } else {
      escaped += "%" + to_hex(static_cast<unsigned char>(c), 2);
    }
  }
  return escaped;
}

}  // namespace

std::string github_annotation(bool is_error, std::string_view title, std::string_view text) {
  return std::string(is_error ? "::error" : "::warning") + " title=" + escape(title, "%\r\n:,") +
         "::" + escape(text, "%\r\n") + "\n";
}

}  // namespace headroom
