// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace headroom {

/// Throws std::system_error with the reason that errno gives; `what` names what failed.
[[noreturn]] void throw_errno(const std::string& what);

/// The bytes of a regular file. Never blocks on a FIFO, never reads more than `limit` bytes.
/// Throws ConfigError where there is no such file, it can't be opened, is no regular file or is
/// larger than `limit`; std::system_error that names the file where reading fails.
std::string read_file(const std::string& path, std::size_t limit);

/// The first bytes of a regular file, and how many it has in all.
struct FileStart {
  std::string bytes;
  std::int64_t size = 0;
};

/// Reads `count` bytes, or all where the file is shorter. Throws as read_file does.
FileStart read_file_start(const std::string& path, std::size_t count);

/// Replaces the file by `text`, or leaves it as it was: writes a temporary file in the same folder,
/// flushes it to the disk, renames it over `path`, and flushes the folder.
/// Throws std::system_error that names the file; the temporary file is gone then. Sets the umask
/// for an instant, so call it from one thread.
void write_file_atomically(const std::string& path, std::string_view text);

/// Writes all of `bytes` to a file descriptor, through interrupts and short writes, and waits where
/// it takes none for now. Throws std::system_error that names `path`.
void write_all(int descriptor, std::string_view bytes, const std::string& path);

/// Writes what a reader may be slow or never to read, or be stopped: of a pipe or a terminal. Does
/// not wait longer than `patience` for it. False: not all of `bytes` were written.
bool try_write(int descriptor, std::string_view bytes, std::chrono::milliseconds patience);

/// Opens /dev/null in the place of standard input, output and error where they are closed: else the
/// next file that is opened becomes one of them. Throws std::system_error.
void open_standard_descriptors();

/// Owns a file descriptor, and closes it.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileDescriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  int get() const { return descriptor_; }
  void reset() { FileDescriptor().swap(*this); }

 private:
  void swap(FileDescriptor& other) { std::swap(descriptor_, other.descriptor_); }

  int descriptor_ = -1;
};

/// A folder below TMPDIR (or /tmp) that goes with its owner. Throws std::system_error.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace headroom
