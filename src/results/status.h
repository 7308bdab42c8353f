// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/core/enum_names.h"

namespace headroom {

/// How a case ended.
enum class Status {
  ok,
  out_of_memory,
  unsupported,  // the machine or this build lacks something, or its techniques exclude each other
  inactive,     // a technique did nothing
  incorrect,    // it learned something else than it should
  timeout,
  crashed,
  failed,
};

/// That it does not fit, or can't run here, is a result; the others are failures.
inline bool is_failure(Status status) {
  return status != Status::ok && status != Status::out_of_memory && status != Status::unsupported;
}

/// A status and, for people, why; the reason of `ok` is mostly empty.
struct Verdict {
  Status status = Status::ok;
  std::string reason;

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

}  // namespace headroom
