// SPDX-License-Identifier: Apache-2.0
#include "src/core/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <system_error>

#include "src/core/error.h"

namespace headroom {

void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& doing) {
  throw_errno(path + ": " + doing);
}

/// Repeats a system call that a signal interrupted.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ != -1) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return value_; }

  // Linux frees the descriptor even where close() reports an interrupt.
  void close(const std::string& path) {
    const int result = ::close(std::exchange(value_, -1));
    if (result != 0 && errno != EINTR) fail(path, "can't close");
  }

 private:
  int value_;
};

void synchronize(int descriptor, const std::string& path) {
  if (uninterrupted([&] { return ::fsync(descriptor); }) != 0)
    fail(path, "can't flush to the disk");
}

/// A new file beside `path`, which is removed unless it took the place of `path`.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path)
      : name_(path + ".XXXXXX"), descriptor_(::mkostemp(name_.data(), O_CLOEXEC)) {
    if (descriptor_.get() == -1) fail(path, "can't make a temporary file beside it");
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
    descriptor_.close(name_);
  }

  void rename_to(const std::string& path) {
    if (::rename(name_.c_str(), path.c_str()) != 0) fail(path, "can't replace");
    name_.clear();
  }

 private:
  std::string name_;
  Descriptor descriptor_;
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

[[noreturn]] void fail_to_open(const std::string& path) {
  const int error = errno;
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

FileStart read_file_start(const std::string& path, std::size_t count) {
  // O_NONBLOCK: opening a FIFO would wait for a writer.
  const Descriptor descriptor(uninterrupted(
      [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
  if (descriptor.get() == -1) fail_to_open(path);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) fail(path, "can't look at");
  if (!S_ISREG(status.st_mode)) throw ConfigError(Place{.file = path}, "not a regular file");

  FileStart start{.bytes = {}, .size = status.st_size};
  constexpr std::size_t kChunk = 1024 * 1024;
  while (start.bytes.size() < count) {
    const std::size_t filled = start.bytes.size();
    start.bytes.resize(std::min(count, filled + kChunk));
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
  const std::string folder = std::filesystem::path(path).parent_path().string();
  Descriptor descriptor(uninterrupted([&] {
    return ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }));
  if (descriptor.get() == -1) fail(folder, "can't open the folder");
  synchronize(descriptor.get(), folder);
  descriptor.close(folder);
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
    if (::poll(&ready, 1, std::max(0, static_cast<int>(left.count()))) <= 0) return false;
    // A pipe that has room takes so many at once.
    const std::size_t most = std::min<std::size_t>(bytes.size(), PIPE_BUF);
    const ssize_t count = ::write(written, bytes.data(), most);
    if (count < 0 && (errno != EAGAIN || Clock::now() >= deadline)) return false;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    if (::open("/dev/null", O_RDWR) == -1) throw_errno("/dev/null");  // the lowest number is taken
  }
}

ScratchFolder::ScratchFolder() {
  std::string name = std::filesystem::temp_directory_path() / "headroom-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw_errno(name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // what is left is only litter
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace headroom
