// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace headroom::dry_run {

struct Extremes {
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
};

/// Of whole numbers of eight bytes; nothing: they are something else, as floats are, all zeros, or
/// too large to be places or tokens. `size`: in bytes.
std::optional<Extremes> extremes_of(const void* bytes, std::size_t size);

}  // namespace headroom::dry_run
