// SPDX-License-Identifier: Apache-2.0
#include "src/runner/bounded_log.h"

#include <system_error>

#include "src/core/file.h"

namespace headroom {

void BoundedLog::append(std::string_view text) {
  if (stopped_) return;
  const std::string_view part = text.substr(0, kMostBytes - written_);
  try {
    write_all(descriptor_, part, "the log");
    written_ += part.size();
    if (part.size() == text.size()) return;
    write_all(descriptor_,
              "\n[headroom: the worker printed more than 1 MiB; the rest is left out]\n",
              "the log");
  } catch (const std::system_error&) {
  }
  stopped_ = true;
}

}  // namespace headroom
