// SPDX-License-Identifier: Apache-2.0
#include "src/runner/frame.h"

#include <cstdint>

namespace headroom {
namespace {

constexpr std::size_t kBytesOfLength = 4;
constexpr std::size_t kBytesOfHead = 1 + kBytesOfLength;
constexpr std::string_view kKinds = "hmoewrskq";

std::size_t length_of(std::string_view head) {
  std::size_t length = 0;
  for (const char byte : head.substr(1, kBytesOfLength)) {
    length = length << 8 | static_cast<unsigned char>(byte);
  }
  return length;
}

}  // namespace

std::string encode(const Frame& frame) {
  std::string text(1, static_cast<char>(frame.kind));
  const auto length = static_cast<std::uint32_t>(frame.payload.size());
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(length >> shift & 0xff);
  return text + frame.payload;
}

void FrameReader::take(std::string_view bytes) {
  if (fault_.empty()) unread_ += bytes;
}

std::optional<Frame> FrameReader::next() {
  if (!fault_.empty() || unread_.empty()) return std::nullopt;
  if (kKinds.find(unread_[0]) == std::string_view::npos) {
    fault_ = "what came is not of headroom";
  } else if (unread_.size() >= kBytesOfHead && length_of(unread_) > most_bytes_) {
    fault_ = "what came is longer than " + std::to_string(most_bytes_) + " bytes";
  }
  if (!fault_.empty()) {
    unread_.clear();
    return std::nullopt;
  }
  if (unread_.size() < kBytesOfHead) return std::nullopt;
  const std::size_t end = kBytesOfHead + length_of(unread_);
  if (unread_.size() < end) return std::nullopt;
  Frame frame{static_cast<FrameKind>(unread_[0]), unread_.substr(kBytesOfHead, end - kBytesOfHead)};
  unread_.erase(0, end);
  return frame;
}

}  // namespace headroom
