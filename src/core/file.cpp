// SPDX-License-Identifier: Apache-2.0
#include "src/core/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <system_error>
#include <thread>

#include "src/core/error.h"

namespace headroom {

void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

bool is_of_machine(int error) {
  return error == EIO || error == ENOMEM || error == EMFILE || error == ENFILE;
}

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& doing) {
  throw_errno(path + ": " + doing);
}

// Linux frees the descriptor even where close() reports an interrupt.
void close_file(FileDescriptor& file, const std::string& path) {
  const int result = ::close(file.release());
  if (result != 0 && errno != EINTR) fail(path, "can't close");
}

void synchronize(int descriptor, const std::string& path) {
  if (uninterrupted([&] { return ::fsync(descriptor); }) != 0)
    fail(path, "can't flush to the disk");
}

// Between a file's name and what the C library makes of the X: nobody names a file so.
constexpr std::string_view kTemporaryMark = ".new-";
constexpr std::string_view kRandom = "XXXXXX";

/// ".NAME.new-XXXXXX", in the folder of the file.
std::string temporary_name(const std::filesystem::path& path) {
  std::string name = "." + path.filename().string();
  name.append(kTemporaryMark).append(kRandom);
  return path.parent_path() / name;
}

bool is_temporary_name(std::string_view name) {
  if (!name.starts_with('.') || name.size() < kRandom.size()) return false;
  const std::size_t random = name.size() - kRandom.size();
  return name.substr(0, random).ends_with(kTemporaryMark) &&
         std::ranges::all_of(name.substr(random), [](unsigned char c) { return std::isalnum(c); });
}

/// Removes the temporary files of `path` whose makers are gone: nobody holds their locks.
void remove_left_beside(const std::filesystem::path& path) {
  const std::string pattern = std::filesystem::path(temporary_name(path)).filename();
  const std::string_view prefix = std::string_view(pattern).substr(0, pattern.rfind(kRandom));
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code ignored;  // what is left is only litter
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix) || !is_temporary_name(name)) continue;
    const FileDescriptor file(
        ::open(entry.path().c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
  }
}

/// Where that can't be told, the file is taken for one that is there.
bool was_removed(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && status.st_nlink == 0;
}

/// A new file beside `path`, which is removed unless it took the place of `path`.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path) {
    remove_left_beside(path);
    // Until it is locked, another process may take the new file for one that was left behind.
    do {
      name_ = temporary_name(path);
      descriptor_ = FileDescriptor(::mkostemp(name_.data(), O_CLOEXEC));
      if (descriptor_.get() == -1) {
        name_.clear();
        fail(path, "can't make a temporary file beside it");
      }
      // Where the file system has no locks, nobody gets one and removes the file.
      uninterrupted([&] { return ::flock(descriptor_.get(), LOCK_EX); });
    } while (was_removed(descriptor_.get()));
  }
  ~TemporaryFile() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view text) {
    write_all(descriptor_.get(), text, name_);
    // mkostemp gives 0600; results are for everybody whom the umask lets read.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(descriptor_.get(), 0666 & ~mask) != 0) fail(name_, "can't set the mode");
    synchronize(descriptor_.get(), name_);
  }

  /// Keeps its lock until it has that name.
  void rename_to(const std::string& path) {
    if (::rename(name_.c_str(), path.c_str()) != 0) fail(path, "can't replace");
    name_.clear();
    close_file(descriptor_, path);
  }

 private:
  std::string name_;
  FileDescriptor descriptor_;
};

/// A pipe or a terminal once more, so that a write to it never blocks: a terminal may have room for
/// a part of a line. Whoever else has it open sees no change. Below 0: it is neither, or is another
/// user's.
FileDescriptor open_non_blocking(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return {};
  if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode)) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  return FileDescriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

/// Where symbolic links lead in the end, whether or not something is there.
std::filesystem::path end_of_links(std::filesystem::path path) {
  constexpr int kMaxLinks = 40;  // as many as the kernel follows
  for (int links = 0; links < kMaxLinks && std::filesystem::is_symlink(path); ++links) {
    path = path.parent_path() / std::filesystem::read_symlink(path);
  }
  return path;
}

bool is_standard_output(const struct stat& file) {
  struct stat output {};
  return ::fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == file.st_dev &&
         output.st_ino == file.st_ino;
}

/// Throws ConfigError where the user can mend it.
[[noreturn]] void fail_to_open(const std::string& path) {
  const int error = errno;
  if (is_of_machine(error)) fail(path, "can't open");
  throw ConfigError(Place{.file = path}, "can't open: " + std::generic_category().message(error));
}

}  // namespace

std::string read_file(const std::string& path, std::size_t limit) {
  // One byte more than allowed is asked for: files of /proc say size 0, and a file may grow.
  const FileStart start = read_file_start(path, limit + 1);
  if (start.bytes.size() > limit) {
    throw ConfigError(Place{.file = path},
                      "too large; at most " + std::to_string(limit) + " bytes are allowed");
  }
  return start.bytes;
}

OpenFile open_regular_file(const std::string& path) {
  // O_NONBLOCK: opening a FIFO would wait for a writer.
  FileDescriptor descriptor(uninterrupted(
      [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
  if (descriptor.get() == -1) fail_to_open(path);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) fail(path, "can't look at");
  if (!S_ISREG(status.st_mode)) throw ConfigError(Place{.file = path}, "not a regular file");
  return {.descriptor = std::move(descriptor), .size = status.st_size};
}

FileStart read_file_start(const std::string& path, std::size_t count) {
  const auto [descriptor, size] = open_regular_file(path);
  FileStart start{.bytes = {}, .size = size};
  constexpr std::int64_t kMinChunk = 4096;
  constexpr std::int64_t kMaxChunk = 1024 * 1024;
  while (start.bytes.size() < count) {
    const std::size_t filled = start.bytes.size();
    // A byte more than there should be left, so that the end is seen by the same read.
    const std::int64_t left = start.size - static_cast<std::int64_t>(filled) + 1;
    const auto chunk = static_cast<std::size_t>(std::clamp(left, kMinChunk, kMaxChunk));
    start.bytes.resize(std::min(count, filled + chunk));
    const ssize_t got = uninterrupted([&] {
      return ::read(descriptor.get(), start.bytes.data() + filled, start.bytes.size() - filled);
    });
    if (got < 0) fail(path, "can't read");
    start.bytes.resize(filled + static_cast<std::size_t>(got));
    if (got == 0) break;
  }
  return start;
}

void write_file_atomically(const std::string& path, std::string_view text) {
  TemporaryFile temporary(path);
  temporary.write(text);
  temporary.rename_to(path);
  flush_folder(std::filesystem::path(path).parent_path());
}

void remove_temporary_files(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const bool is_file = std::filesystem::is_regular_file(entry.symlink_status());
    if (is_file && is_temporary_name(entry.path().filename().string())) {
      std::filesystem::remove(entry.path());
    }
  }
}

void write_output(const std::string& path, std::string_view text) {
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0) {
    if (errno != ENOENT) fail(path, "can't look at");
    return write_file_atomically(end_of_links(path), text);
  }
  if (is_standard_output(there)) return write_all(STDOUT_FILENO, text, path);
  if (S_ISREG(there.st_mode)) return write_file_atomically(end_of_links(path), text);
  if (!S_ISFIFO(there.st_mode) && !S_ISCHR(there.st_mode)) {
    throw ConfigError(Place{.file = path},
                      "can't be written; allowed: a file, a pipe, a character device");
  }
  FileDescriptor stream(
      uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY); }));
  if (stream.get() == -1) fail(path, "can't open");
  write_all(stream.get(), text, path);
  close_file(stream, path);
}

void flush_folder(const std::filesystem::path& folder) {
  const std::string path = folder.empty() ? "." : folder.string();
  FileDescriptor descriptor(
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (descriptor.get() == -1 && errno == EACCES) return;
  if (descriptor.get() == -1) fail(path, "can't open the folder");
  synchronize(descriptor.get(), path);
  close_file(descriptor, path);
}

void make_folders(const std::filesystem::path& folder) {
  if (folder.empty() || std::filesystem::is_directory(folder)) return;
  make_folders(folder.parent_path());
  std::filesystem::create_directory(folder);
  flush_folder(folder.parent_path());
}

void write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count =
        uninterrupted([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (count < 0 && errno == EAGAIN) {  // whoever made it may have told it never to block
      pollfd ready{descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (count < 0) fail(path, "can't write");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

bool try_write(int descriptor, std::string_view bytes, std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + patience;
  const FileDescriptor own = open_non_blocking(descriptor);
  const int written = own.get() >= 0 ? own.get() : descriptor;
  while (!bytes.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd ready{written, POLLOUT, 0};
    const int is_ready = uninterrupted(
        [&] { return ::poll(&ready, 1, std::max(0, static_cast<int>(left.count()))); });
    if (is_ready == 0) return false;  // where the wait itself fails, the write is tried
    // A pipe that has room takes so many at once.
    const std::size_t most = std::min<std::size_t>(bytes.size(), PIPE_BUF);
    const ssize_t count = ::write(written, bytes.data(), most);
    if (count < 0 && (errno != EAGAIN || Clock::now() >= deadline)) return false;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool lock_within(int descriptor, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kPause{20};
  const auto end = std::chrono::steady_clock::now() + patience;
  while (uninterrupted([&] { return ::flock(descriptor, LOCK_EX | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    if (::open("/dev/null", O_RDWR) == -1) throw_errno("/dev/null");  // the lowest number is taken
  }
}

}  // namespace headroom
