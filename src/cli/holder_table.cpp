// SPDX-License-Identifier: Apache-2.0
#include "src/cli/holder_table.h"

#include <cstdint>
#include <vector>

#include "src/core/text.h"

namespace headroom {
namespace {

constexpr std::size_t kMostLines = 12;

struct Sum {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;

  void add(const nlohmann::ordered_json& holder) {
    bytes += holder.at("bytes").get<std::int64_t>();
    blocks += holder.at("blocks").get<std::int64_t>();
  }
};

std::vector<std::string> line_of(const Sum& sum, const std::string& kind, const std::string& line) {
  return {kind, format_bytes(sum.bytes), std::to_string(sum.blocks), printable(line)};
}

}  // namespace

std::string format_holders(const nlohmann::ordered_json& holders, const std::string& label) {
  std::vector<std::vector<std::string>> lines;
  Sum all;
  Sum rest;
  for (const auto& holder : holders) {
    all.add(holder);
    if (lines.size() == kMostLines) {
      rest.add(holder);
      continue;
    }
    Sum own;
    own.add(holder);
    lines.push_back(line_of(own, printable(holder.at("kind").get<std::string>()),
                            holder.at("line").get<std::string>()));
  }
  if (rest.blocks > 0) {
    lines.push_back(
        line_of(rest, "", std::to_string(holders.size() - kMostLines) + " more places"));
  }
  return "\nwhat holds the peak of " + format_bytes(all.bytes) +
         (label.empty() ? "" : ", " + label) + "\n" +
         format_table({"kind", "held", "blocks", "allocated at"}, lines, {"held", "blocks"});
}

}  // namespace headroom
