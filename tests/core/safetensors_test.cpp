// SPDX-License-Identifier: Apache-2.0
#include "src/core/safetensors.h"

#include <gtest/gtest.h>

#include "src/core/error.h"
#include "src/core/file.h"
#include "tests/core/messages.h"

namespace headroom {
namespace {

TEST(Safetensors, WritesAHeaderThatItReads) {
  std::vector<SafetensorsEntry> tensors{
      {.name = "weight", .type = SafetensorsType::F32, .shape = {2, 3}},
      {.name = "empty", .type = SafetensorsType::I64, .shape = {0, 5}},
      {.name = "b\xC3\xA4 \"q\"", .type = SafetensorsType::BF16, .shape = {7}},
      {.name = "mask", .type = SafetensorsType::BOOL, .shape = {}}};
  const std::map<std::string, std::string> metadata{{"format", "pt"}};
  const std::string header = write_safetensors_header(tensors, metadata);
  EXPECT_EQ(header.size() % 8, 0u);
  EXPECT_EQ(tensors[0].begin, std::ssize(header));
  EXPECT_EQ(tensors[0].end, std::ssize(header) + 24);
  EXPECT_EQ(tensors[1].begin, tensors[1].end);
  EXPECT_EQ(tensors[3].end, std::ssize(header) + 24 + 14 + 1);

  const TemporaryFolder folder;
  write_file_atomically(folder / "f", header + std::string(39, '\0'));
  const SafetensorsHeader read = read_safetensors_header(folder / "f");
  EXPECT_EQ(read.tensors, tensors);
  EXPECT_EQ(read.metadata, metadata);
}

TEST(Safetensors, WritesNoFileThatItWouldRefuse) {
  const auto write = [](std::vector<SafetensorsEntry> tensors) {
    write_safetensors_header(tensors);
  };
  const SafetensorsEntry good{.name = "a", .shape = {1}};
  EXPECT_THROW(write({good, good}), std::invalid_argument);
  EXPECT_THROW(write({{.name = "", .shape = {1}}}), std::invalid_argument);
  EXPECT_THROW(write({{.name = "../a", .shape = {1}}}), std::invalid_argument);
  EXPECT_THROW(write({{.name = "__metadata__", .shape = {1}}}), std::invalid_argument);
  EXPECT_THROW(write({{.name = "a", .shape = {-1}}}), std::invalid_argument);
  EXPECT_THROW(write({{.name = "a", .shape = {INT64_MAX}}}), std::invalid_argument);
}

TEST(Safetensors, KnowsTheSizeOfEveryType) {
  EXPECT_EQ(element_bytes(SafetensorsType::F64), 8);
  EXPECT_EQ(element_bytes(SafetensorsType::C64), 8);
  EXPECT_EQ(element_bytes(SafetensorsType::U32), 4);
  EXPECT_EQ(element_bytes(SafetensorsType::BF16), 2);
  EXPECT_EQ(element_bytes(SafetensorsType::F8_E4M3), 1);
  EXPECT_EQ(element_bytes(SafetensorsType::BOOL), 1);
}

TEST(Safetensors, BooleansAreZeroOrOne) {
  EXPECT_NO_THROW(check_boolean_bytes(std::string_view("\0\1\1\0", 4), "mask"));
  EXPECT_TRUE(contains(
      message_of<ConfigError>([] { check_boolean_bytes(std::string_view("\0\2", 2), "mask"); }),
      "tensor \"mask\": a BOOL that is neither 0 nor 1"));
}

TEST(Safetensors, NamesPickleAndZipFiles) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& bytes) {
    write_file_atomically(folder / "w.pt", bytes);
    return message_of<ConfigError>([&] { read_safetensors_header(folder / "w.pt"); });
  };
  EXPECT_TRUE(contains(refusal(std::string("PK\x03\x04\x14\0\0\0\x08\x08rest of the archive", 30)),
                       "zip file"));
  EXPECT_TRUE(
      contains(refusal("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."), "pickle file"));
  EXPECT_TRUE(contains(refusal("\x80\x04N."), "pickle file"));
}

TEST(Safetensors, ReadsOnlyRegularFiles) {
  EXPECT_EQ(message_of<ConfigError>([] { read_safetensors_header("/dev/zero"); }),
            "/dev/zero: not a regular file");
  EXPECT_THROW(read_safetensors_header("/no/such/file"), ConfigError);
}

// Of a good file, every cut and every changed byte of the header is refused or still covers the
// file.
TEST(Safetensors, NoCutAndNoFlipIsReadWrong) {
  std::vector<SafetensorsEntry> tensors{{.name = "a", .shape = {2, 3}},
                                        {.name = "b", .shape = {4}}};
  const std::string bytes = write_safetensors_header(tensors) + std::string(40, 'x');
  const TemporaryFolder folder;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    write_file_atomically(folder / "f", bytes.substr(0, size));
    EXPECT_THROW(read_safetensors_header(folder / "f"), ConfigError) << size;
  }
  for (std::size_t at = 0; at < bytes.size() - 40; ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x11);
    write_file_atomically(folder / "f", changed);
    try {
      const SafetensorsHeader header = read_safetensors_header(folder / "f");
      ASSERT_EQ(header.tensors.size(), 2u);
      EXPECT_EQ(header.tensors[1].end, std::ssize(bytes));
    } catch (const ConfigError&) {
    }
  }
}

}  // namespace
}  // namespace headroom
