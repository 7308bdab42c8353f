// SPDX-License-Identifier: Apache-2.0
#include "src/core/text_table.h"

#include <algorithm>

#include "src/core/printable.h"

namespace headroom {
namespace {

/// Characters, not bytes, of UTF-8.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows,
                         const std::vector<std::string>& right) {
  std::vector<std::vector<std::string>> lines = {header};
  for (const std::vector<std::string>& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::string& cell : row) line.push_back(printable(cell));
  }
  std::vector<std::size_t> widest(header.size());
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < widest.size(); ++i) widest[i] = std::max(widest[i], width(line[i]));
  }
  std::string text;
  for (const std::vector<std::string>& line : lines) {
    std::string out;
    for (std::size_t i = 0; i < header.size(); ++i) {
      const std::string gap(widest[i] - width(line[i]), ' ');
      const bool is_right = std::count(right.begin(), right.end(), header[i]) > 0;
      out += (i == 0 ? "" : "  ") + (is_right ? gap + line[i] : line[i] + gap);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  }
  return text;
}

}  // namespace headroom
