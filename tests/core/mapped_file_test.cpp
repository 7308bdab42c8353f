// SPDX-License-Identifier: Apache-2.0
#include "src/core/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "src/core/error.h"
#include "src/core/file.h"
#include "tests/core/messages.h"
#include "tests/support/temporary_folder.h"

namespace headroom {
namespace {

// A copy would not see what is written behind its back.
TEST(MappedFile, IsTheFilesOwnPages) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", "abc");
  std::optional<MappedFile> first(path);
  const MappedFile moved = *std::exchange(first, std::nullopt);
  ASSERT_EQ(moved.bytes().size(), 3u);
  EXPECT_EQ(moved.bytes()[1], 'b');
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::pwrite(file.get(), "x", 1, 1), 1);
  EXPECT_EQ(moved.bytes()[1], 'x');
}

TEST(MappedFile, MayBeEmpty) {
  const TemporaryFolder folder;
  EXPECT_TRUE(MappedFile(folder.write("data", "")).bytes().empty());
}

TEST(MappedFile, SaysWhyItCanNotBe) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { MappedFile(folder / "none"); }), "none"));
  EXPECT_TRUE(contains(message_of<ConfigError>([] { MappedFile("/"); }), "not a regular file"));
}

}  // namespace
}  // namespace headroom
