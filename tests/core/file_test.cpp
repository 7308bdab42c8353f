// SPDX-License-Identifier: Apache-2.0
#include "src/core/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "src/core/error.h"
#include "tests/core/messages.h"
#include "tests/support/blocked.h"

namespace headroom {
namespace {

TEST(File, WritesAndReadsBack) {
  const TemporaryFolder folder;
  const std::string text = std::string("a\0b\n", 4) + std::string(3'000'000, 'x');
  write_file_atomically(folder / "f", "old");
  write_file_atomically(folder / "f", text);
  EXPECT_EQ(read_file(folder / "f", text.size()), text);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 1);
}

TEST(File, ModeFollowsTheUmask) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  write_file_atomically(folder / "f", "x");
  EXPECT_EQ(::umask(before), 027u);
  struct stat status {};
  ASSERT_EQ(::stat((folder / "f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
}

TEST(File, WritesIntoTheWorkingFolder) {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  write_file_atomically("f", "x");
  std::filesystem::current_path(before);
  EXPECT_EQ(read_file(folder / "f", 1), "x");
}

TEST(File, BoundsWhatItReads) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "f", "12345");
  EXPECT_EQ(read_file(folder / "f", 5), "12345");
  EXPECT_TRUE(
      contains(message_of<ConfigError>([&] { read_file(folder / "f", 4); }), "at most 4 bytes"));
  const FileStart start = read_file_start(folder / "f", 3);
  EXPECT_EQ(start.bytes, "123");
  EXPECT_EQ(start.size, 5);
  EXPECT_EQ(read_file_start(folder / "f", 30).bytes, "12345");
  // Says that it has no bytes, and has.
  EXPECT_FALSE(read_file("/proc/self/status", 100'000).empty());
}

TEST(File, ReadsOnlyRegularFiles) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  for (const std::string& path : {folder / "fifo", folder / "", std::string("/dev/zero")}) {
    EXPECT_EQ(message_of<ConfigError>([&] { read_file(path, 10); }), path + ": not a regular file");
  }
  EXPECT_EQ(message_of<ConfigError>([&] { read_file(folder / "no", 10); }),
            folder / "no" + ": can't open: No such file or directory");
}

TEST(File, LeavesNothingBehindWhereItCanNotWrite) {
  const TemporaryFolder folder;
  const std::string missing = folder / "no/f";
  EXPECT_TRUE(contains(message_of<std::system_error>([&] { write_file_atomically(missing, "x"); }),
                       missing));
  // A folder stands where the file should go.
  std::filesystem::create_directory(folder / "f");
  EXPECT_TRUE(
      contains(message_of<std::system_error>([&] { write_file_atomically(folder / "f", "x"); }),
               folder / "f"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 1);
}

TEST(File, RemovesWhatAKilledWriterLeftAndNothingElse) {
  const TemporaryFolder folder;
  folder.write(".f.new-abc123", "left behind");
  folder.write(".g.new-abc123", "of another file");
  folder.write(".f.new-abc1234", "of no writer");
  folder.write(".f.new-abc124", "half written");
  const FileDescriptor written(::open((folder / ".f.new-abc124").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(written.get(), LOCK_EX), 0);  // as its writer holds it
  write_file_atomically(folder / "f", "x");
  EXPECT_FALSE(std::filesystem::exists(folder / ".f.new-abc123"));
  for (const char* name : {".g.new-abc123", ".f.new-abc1234", ".f.new-abc124", "f"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  }
}

// Two that write one file at once: neither takes the other's for one that was left behind.
TEST(File, IsWrittenByTwoAtOnce) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  try {
    for (int i = 0; i < 100; ++i) write_file_atomically(folder / "f", std::to_string(i));
  } catch (const std::system_error& error) {
    if (child == 0) ::_exit(1);
    ADD_FAILURE() << error.what();
  }
  if (child == 0) ::_exit(0);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(folder / "f", 10), "99");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 1);
}

TEST(File, MakesFoldersAndFilesWhereItMayNotRead) {
  const TemporaryFolder folder;
  const std::string drop = folder / "drop";
  std::filesystem::create_directory(drop);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0711), 0);
  ASSERT_EQ(::chmod(drop.c_str(), 0333), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;  // root may read everything
    if (::getuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);
    try {
      make_folders(drop + "/a/b");
      write_file_atomically(drop + "/f", "x");
    } catch (const std::system_error&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::is_directory(drop + "/a/b"));
  EXPECT_EQ(read_file(drop + "/f", 1), "x");
}

TEST(File, ReportsAFullDisk) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_NE(full, -1);
  EXPECT_TRUE(contains(message_of<std::system_error>([&] { write_all(full, "x", "/dev/full"); }),
                       "/dev/full: can't write: No space left on device"));
  ::close(full);
}

/// What comes out of a pipe that write_all() writes a large text to.
std::string through_pipe(const std::string& text, int flags) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  EXPECT_EQ(::fcntl(ends[1], F_SETFL, flags), 0);
  std::string received;
  std::thread reader([&] {
    char buffer[1000];
    for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
      received.append(buffer, static_cast<std::size_t>(n));
    }
  });
  EXPECT_NO_THROW(write_all(ends[1], text, "pipe"));
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  return received;
}

// A pipe takes a part of a large write at a time.
TEST(File, WritesAllThroughShortWrites) {
  const std::string text(1'000'000, 'y');
  EXPECT_TRUE(through_pipe(text, 0) == text);
  EXPECT_TRUE(through_pipe(text, O_NONBLOCK) == text);
}

TEST(File, WritesOnlyAsLongAsItWasToldTo) {
  const FullPipe pipe;
  EXPECT_FALSE(try_write(pipe.to_write(), "x", std::chrono::milliseconds(0)));
  EXPECT_FALSE(try_write(pipe.to_write(), "x", std::chrono::milliseconds(10)));
  const UnreadTerminal terminal;
  const std::string line(100, 'x');
  int lines = 0;
  while (lines < 100'000 && try_write(terminal.to_write(), line, std::chrono::milliseconds(0))) {
    ++lines;
  }
  EXPECT_GT(lines, 10);
  EXPECT_LT(lines, 100'000);
  const TemporaryFolder folder;
  const FileDescriptor file(::open((folder / "f").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string text(1'000'000, 'y');
  EXPECT_TRUE(try_write(file.get(), text, std::chrono::milliseconds(0)));
  EXPECT_EQ(read_file(folder / "f", text.size()), text);
}

TEST(LockWithin, waits_for_who_holds_it_for_a_moment_and_no_longer) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "");
  const auto open_file = [&] { return FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)); };
  FileDescriptor first = open_file();
  const FileDescriptor second = open_file();
  ASSERT_TRUE(lock_within(first.get(), std::chrono::milliseconds(0)));
  EXPECT_FALSE(lock_within(second.get(), std::chrono::milliseconds(50)));
  EXPECT_EQ(errno, EWOULDBLOCK);
  std::thread holder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    first.reset();
  });
  EXPECT_TRUE(lock_within(second.get(), std::chrono::seconds(20)));
  holder.join();
  EXPECT_FALSE(lock_within(-1, std::chrono::seconds(20)));
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace headroom
