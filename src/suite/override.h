// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/core/node.h"

namespace headroom {

/// A value that the command line puts over every case: `--set train.batch_size=4`.
struct Override {
  std::string path;
  Node value;  // a scalar; its place is "--set train.batch_size=4"
};

/// Reads "K=V". Throws ConfigError where it is not of that form.
Override parse_override(const std::string& text);

}  // namespace headroom
