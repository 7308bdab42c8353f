// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace headroom {

/// The bytes of a regular file, mapped and not copied: all processes that map it, the ranks of a
/// machine, share its pages, and the first of them reads it from the disk. Where somebody cuts the
/// file meanwhile, reading behind its new end kills the process (SIGBUS).
class MappedFile {
 public:
  /// Throws as read_file does (src/core/file.h).
  explicit MappedFile(const std::string& path);

  std::span<const std::uint8_t> bytes() const { return {pages_.get(), size_}; }

 private:
  std::size_t size_ = 0;
  std::shared_ptr<const std::uint8_t> pages_;  // null where the file is empty
};

}  // namespace headroom
