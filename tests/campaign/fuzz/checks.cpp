// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/fuzz/checks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json.h"

namespace headroom {

void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

bool is_accepted(const std::function<void()>& read, std::string_view place) {
  const auto is_said_well = [&](const std::exception& error) {
    if (std::string_view(error.what()).starts_with(place)) return;
    std::fprintf(stderr, "fuzz: said: %s\n", error.what());
    require(false, "an error names its place");
  };
  try {
    read();
    return true;
  } catch (const ConfigError& error) {
    is_said_well(error);
  } catch (const ResultsError& error) {
    is_said_well(error);
  } catch (const JsonError&) {  // who calls read_json() adds the place
  }
  return false;
}

void in_pieces(std::string_view input, const std::function<void(std::string_view)>& take) {
  for (std::size_t size = 1; !input.empty(); size = size % 7 + 1) {
    take(input.substr(0, size));
    input.remove_prefix(std::min(size, input.size()));
  }
}

std::string with_checksums(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    const std::string checksum = to_hex(crc32(line), 8);
    if (line.starts_with('{')) {
      text.append("{\"crc32\":\"").append(checksum).append("\",").append(line.substr(1));
    } else {
      text.append(checksum).append(" ").append(line);
    }
    if (end == std::string_view::npos) break;
    text += '\n';
    lines.remove_prefix(end + 1);
  }
  return text;
}

const Catalog& fuzz_catalog() {
  constexpr std::size_t kMaxBytes = 1024 * 1024;
  static const Catalog catalog = parse_catalog(read_file(FUZZ_CATALOG, kMaxBytes));
  return catalog;
}

}  // namespace headroom
