// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What ranks ask of the store at which they meet: c10d::TCPStore, as PyTorch's open source speaks
// it since 2.1 (torch/csrc/distributed/c10d/TCPStore.cpp). Numbers are in the machine's byte order,
// a text is its length in eight bytes and itself.
namespace headroom {

/// The first byte of a request.
enum class StoreVerb : unsigned char {
  validate,     // the first of a connection
  set,          // keys[0] to values[0]
  compare_set,  // keys[0] from values[0] to values[1]
  get,
  add,  // `number` to keys[0]
  check,
  wait,
  count_keys,
  remove,
  append,
  get_each,
  set_each,  // keys[i] to values[i]
  cancel_wait,
  ping,
};

struct StoreRequest {
  StoreVerb verb;
  std::vector<std::string> keys;
  std::vector<std::string> values;
  std::int64_t number = 0;

  friend bool operator==(const StoreRequest&, const StoreRequest&) = default;
};

/// Reads requests out of bytes that anybody may have sent.
class StoreRequestReader {
 public:
  static constexpr std::uint64_t kMaxText = 8 << 20;  // PyTorch's own limits
  static constexpr std::uint64_t kMaxKeys = 128 << 10;
  static constexpr std::size_t kMaxBytes = 64 << 20;   // of a request
  static constexpr std::uint32_t kMagic = 0x3C85F7CE;  // which `validate` has to give

  /// Takes more bytes. After the first fault nothing more is read.
  void take(std::string_view bytes);
  /// The next whole request, if there is one.
  std::optional<StoreRequest> next();
  const std::string& fault() const { return fault_; }  // empty: all is well

 private:
  std::string unread_;
  std::string fault_;
};

}  // namespace headroom
