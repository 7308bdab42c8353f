// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/programs/store_request.h"

// What c10d::TCPStore sends, byte by byte.
namespace headroom {

template <class Number>
std::string bytes_of(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

inline std::string text(const std::string& bytes) {
  return bytes_of(std::uint64_t{bytes.size()}) + bytes;
}

inline std::string message(StoreVerb verb, const std::string& rest = "") {
  return static_cast<char>(verb) + rest;
}

/// A request of counted keys.
inline std::string message_of_keys(StoreVerb verb, const std::vector<std::string>& keys) {
  std::string all = message(verb, bytes_of(std::uint64_t{keys.size()}));
  for (const std::string& key : keys) all += text(key);
  return all;
}

/// The first of a connection.
inline std::string validation() {
  return message(StoreVerb::validate, bytes_of(StoreRequestReader::kMagic));
}

}  // namespace headroom
