// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::ptx {

/// Part of a memory, and which of its bytes are known.
struct Range {
  std::uint64_t begin = 0;
  std::vector<unsigned char> bytes;
  std::vector<bool> is_known;  // of each byte
  bool is_written = false;
};

/// What threads load from and store to. What lies in no range is not known.
class Memory {
 public:
  std::vector<Range> ranges;

  /// So many bytes, 8 at most, as a number. False: some are not known.
  bool load(std::uint64_t address, std::size_t bytes, std::uint64_t& value) const;
  /// False: they lie in no range. `value`: null: it is not known.
  bool store(std::uint64_t address, std::size_t bytes, const std::uint64_t* value);

 private:
  std::size_t find(std::uint64_t address, std::size_t bytes) const;

  mutable std::size_t last_ = 0;  // where something was found
};

}  // namespace headroom::ptx
