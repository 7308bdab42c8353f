// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/results/results.h"

namespace headroom {

/// What holds a part of the peak of somebody's program, as `plan --explain` says it.
struct Holder {
  std::string kind;  // parameters, gradients, optimizer state, or who asked for it
  std::string line;  // of the program, where it was allocated: "train.py:12"; it may be empty
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;

  friend bool operator==(const Holder&, const Holder&) = default;
};

/// Of the processes of a program the holders of the one whose figures stand in its row. Empty: it
/// is not known what holds its peak.
std::vector<Holder> holders_of(const CaseResult& result);

}  // namespace headroom
