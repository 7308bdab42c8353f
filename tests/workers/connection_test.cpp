// SPDX-License-Identifier: Apache-2.0
#include "src/workers/connection.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace headroom {
namespace {

constexpr std::size_t kMaxPayload = 1000;

std::vector<Frame> all_of(FrameReader& reader) {
  std::vector<Frame> frames;
  while (auto frame = reader.next()) frames.push_back(*frame);
  return frames;
}

TEST(Frame, comes_whole_however_it_is_cut) {
  const std::vector<Frame> frames = {{FrameKind::hello, "{}"},
                                     {FrameKind::output, std::string("\0\n\xff", 3)},
                                     {FrameKind::over, ""},
                                     {FrameKind::message, std::string(kMaxPayload, 'x')}};
  std::string text;
  for (const Frame& frame : frames) text += encode(frame);
  for (const std::size_t size : {std::size_t{1}, std::size_t{3}, std::size_t{6}, text.size()}) {
    FrameReader reader(kMaxPayload);
    std::vector<Frame> read;
    for (std::size_t at = 0; at < text.size(); at += size) {
      reader.take(std::string_view(text).substr(at, size));
      for (Frame& frame : all_of(reader)) read.push_back(frame);
    }
    EXPECT_EQ(read, frames);
    EXPECT_EQ(reader.fault(), "");
  }
}

TEST(Frame, says_its_length_before_its_payload) {
  EXPECT_EQ(encode({FrameKind::welcome, ""}), std::string("w\0\0\0\0", 5));
  EXPECT_EQ(encode({FrameKind::output, std::string(258, 'x')}).substr(0, 5),
            std::string("o\0\0\1\2", 5));
}

TEST(Frame, that_is_too_long_is_refused_before_it_has_come) {
  FrameReader reader(kMaxPayload);
  reader.take(encode({FrameKind::output, std::string(kMaxPayload + 1, 'x')}).substr(0, 5));
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.fault(), "what came is longer than 1000 bytes");
  FrameReader largest(kMaxPayload);
  largest.take("h\xff\xff\xff\xff");
  EXPECT_FALSE(largest.next());
  EXPECT_NE(largest.fault(), "");
}

TEST(Frame, that_is_none_is_refused) {
  for (const std::string text : {"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01", "SSH-2.0", "\n"}) {
    FrameReader reader(kMaxPayload);
    reader.take(text);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.fault(), "what came is not of headroom");
    reader.take(encode({FrameKind::over, ""}));
    EXPECT_FALSE(reader.next()) << "nothing more is read";
  }
}

TEST(Frame, of_random_bytes_does_no_harm) {
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    FrameReader reader(kMaxPayload);
    std::string text(random() % 64, '\0');
    for (char& byte : text) byte = static_cast<char>(random() % 4 == 0 ? random() : random() % 3);
    if (!text.empty()) text[0] = "hmoewrskqx"[random() % 10];
    reader.take(text);
    for (const Frame& frame : all_of(reader)) EXPECT_LE(frame.payload.size(), text.size());
  }
}

}  // namespace
}  // namespace headroom
