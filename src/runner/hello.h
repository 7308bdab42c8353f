// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/runner/launcher.h"

namespace headroom {

/// What one of the processes that a launcher started says of itself.
struct Hello {
  std::string program;  // what `headroom --version` prints: those that differ may not understand
  std::int64_t ranks = 1;
  std::int64_t rank = 0;
  std::string host;           // the name of its machine, for people
  std::int64_t cores = 0;     // that it may use
  std::string core_set;       // a hash of which they are
  bool sets_threads = false;  // OMP_NUM_THREADS is set there

  friend bool operator==(const Hello&, const Hello&) = default;
};

/// That of this process.
Hello hello_of(const Launch& launch, const std::string& program);

std::string to_text(const Hello& hello);

/// Nothing: it is none. A stranger may have written it.
std::optional<Hello> read_hello(std::string_view text);

}  // namespace headroom
