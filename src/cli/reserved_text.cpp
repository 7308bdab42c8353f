// SPDX-License-Identifier: Apache-2.0
#include "src/cli/reserved_text.h"

#include <cstdint>
#include <vector>

#include "src/cli/process_table.h"
#include "src/core/text.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

std::string tally(const Json& object, const char* name) {
  return std::to_string(object.at(name).get<std::int64_t>());
}

std::string words(const Json& object, const char* name) {
  return printable(object.at(name).get<std::string>());
}

std::string pools_of(const Json& peak) {
  std::vector<std::vector<std::string>> lines;
  for (const Json& pool : peak.at("free")) {
    lines.push_back({words(pool, "pool"), tally(pool, "stream"), bytes_in(pool, "bytes"),
                     tally(pool, "pieces"), bytes_in(pool, "largest_bytes")});
  }
  if (lines.empty()) return "";
  return format_table({"pool", "stream", "free", "pieces", "largest"}, lines,
                      {"stream", "free", "pieces", "largest"});
}

std::string neighbours_of(const Json& peak) {
  std::vector<std::vector<std::string>> lines;
  for (const Json& one : peak.at("neighbours")) {
    lines.push_back({bytes_in(one, "bytes"), tally(one, "blocks"), words(one, "line")});
  }
  if (lines.empty()) return "";
  return "beside them lie\n" +
         format_table({"held", "blocks", "allocated at"}, lines, {"held", "blocks"});
}

/// For what it grew, and what large pieces the allocator did not take.
std::string growth_of(const Json& peak) {
  const std::string line = words(peak, "asked_at");
  const std::string start =
      "it grew for " + bytes_in(peak, "asked_bytes") + (line.empty() ? "" : " at " + line);
  if (peak.at("passed_over_pieces") == 0) return start + ": no free piece was as large\n";
  return start + ": the allocator passed over " + tally(peak, "passed_over_pieces") +
         " free pieces that are as large, " + bytes_in(peak, "passed_over_bytes") +
         ", as max_split_size_mb or the pool of a CUDA graph has it do\n";
}

std::string too_small_of(const Json& peak) {
  if (peak.at("too_small_pieces") == 0) return "";
  return "too small were " + tally(peak, "too_small_pieces") + " pieces, " +
         bytes_in(peak, "too_small_bytes") + ", the largest " +
         bytes_in(peak, "too_small_largest_bytes") + "\n" + neighbours_of(peak);
}

}  // namespace

std::string format_reserved(const Json& peak, const std::string& label) {
  const std::string result =
      "\nat the peak of " + bytes_in(peak, "reserved_bytes") + " reserved" +
      (label.empty() ? "" : ", " + label) + ", " + bytes_in(peak, "allocated_bytes") +
      " are allocated, " + bytes_in(peak, "waiting_bytes") +
      " wait for work of other streams, and the rest is free\n" + pools_of(peak);
  return result + growth_of(peak) + too_small_of(peak);
}

}  // namespace headroom
