// SPDX-License-Identifier: Apache-2.0
#include "src/report/exported_case.h"

namespace headroom {

std::string group_of(const Repeats& repeats) {
  return repeats.suite + "/" + (repeats.kind == "planned" ? "planned_" : "") + repeats.device;
}

std::string path_of(const Repeats& repeats) { return group_of(repeats) + "/" + repeats.name; }

bool is_ok(const Repeats& repeats) { return repeats.status() == "ok"; }

std::string ending_of(const Repeats& repeats) {
  const std::string reason = repeats.runs.empty() ? "" : text_in(repeats.row(), "reason");
  return repeats.status() + (reason.empty() ? "" : ": " + reason);
}

}  // namespace headroom
