// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cerrno>
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

/// Whether an error of a call that was given a path is the machine's (a disk, memory, descriptors),
/// and not of what the user named there.
bool is_of_machine(int error);

/// Repeats a system call that a signal interrupted. `call` gives -1 where it failed.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

/// The bytes of a regular file. Never blocks on a FIFO, never reads more than `limit` bytes.
/// Throws ConfigError where there is no such file, it may not be opened, is no regular file or is
/// larger than `limit`; std::system_error that names the file where the machine can't open or read
/// it.
std::string read_file(const std::string& path, std::size_t limit);

/// The first bytes of a regular file, and how many it has in all.
struct FileStart {
  std::string bytes;
  std::int64_t size = 0;
};

/// Reads `count` bytes, or all where the file is shorter. Throws as read_file does.
FileStart read_file_start(const std::string& path, std::size_t count);

/// Replaces the file by `text`, or leaves it as it was: writes a temporary file in the same folder,
/// flushes it to the disk, renames it over `path`, and flushes the folder. Whatever stands at
/// `path` is replaced, so it must be a file of headroom's own: what a user names is for
/// write_output(). Throws std::system_error that names the file; the temporary file is gone then.
/// Where it is killed, that stays beside `path` until somebody writes `path` again.
/// Sets the umask for an instant, so call it from one thread.
void write_file_atomically(const std::string& path, std::string_view text);

/// Removes from a folder the temporary files that write_file_atomically() left there where it was
/// killed. For who knows that nobody writes there now. Throws std::system_error.
void remove_temporary_files(const std::filesystem::path& folder);

/// Writes `text` to what a user named. A file is replaced as write_file_atomically() does, also one
/// behind symbolic links, which stay. A pipe or a character device is written to, and so is what is
/// this process's standard output. Throws ConfigError where anything else stands there (a folder, a
/// disk), std::system_error that names the file where it can't be written.
void write_output(const std::string& path, std::string_view text);

/// Flushes the entries of a folder to the disk, unless it may be written and not be read. Throws
/// std::system_error that names it.
void flush_folder(const std::filesystem::path& folder);

/// Makes a folder, and those above it, where they are missing, and flushes their entries to the
/// disk. Throws std::system_error.
void make_folders(const std::filesystem::path& folder);

/// Writes all of `bytes` to a file descriptor, through interrupts and short writes, and waits where
/// it takes none for now. Throws std::system_error that names `path`.
void write_all(int descriptor, std::string_view bytes, const std::string& path);

/// Writes what a reader may be slow or never to read, or be stopped: of a pipe or a terminal. Does
/// not wait longer than `patience` for it. False: not all of `bytes` were written.
bool try_write(int descriptor, std::string_view bytes, std::chrono::milliseconds patience);

/// With a child that a killed process left between fork and exec: it holds locks for a moment.
inline constexpr std::chrono::milliseconds kLockPatience{1000};

/// Locks an open file for itself alone (flock), and waits that long for whoever holds it. False:
/// errno says why not; EWOULDBLOCK: somebody still holds it.
bool lock_within(int descriptor, std::chrono::milliseconds patience);

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
  /// The descriptor, which is the caller's to close from now on.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  void swap(FileDescriptor& other) { std::swap(descriptor_, other.descriptor_); }

  int descriptor_ = -1;
};

/// A regular file that is open for reading, and how many bytes it has.
struct OpenFile {
  FileDescriptor descriptor;
  std::int64_t size = 0;
};

/// Throws as read_file does.
OpenFile open_regular_file(const std::string& path);

}  // namespace headroom
