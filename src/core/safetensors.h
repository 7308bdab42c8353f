// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The header of a safetensors file. Source: https://github.com/huggingface/safetensors (README,
// "Format"). Stricter than the reference reader where that one accepts what the format forbids or
// what a C++ reader can't hold.
namespace headroom {

/// Element types, as the format spells them (the types below one byte are not supported).
// NOLINTBEGIN(readability-identifier-naming)
enum class SafetensorsType {
  F64,
  F32,
  F16,
  BF16,
  F8_E5M2,
  F8_E4M3,
  F8_E8M0,
  C64,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  BOOL,
};
// NOLINTEND(readability-identifier-naming)

/// Bytes of one element.
std::int64_t element_bytes(SafetensorsType type);

/// One tensor of a file. Its bytes are [begin, end) of the file, little-endian, row-major.
struct SafetensorsEntry {
  std::string name;
  SafetensorsType type = SafetensorsType::F32;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  friend bool operator==(const SafetensorsEntry&, const SafetensorsEntry&) = default;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;        // in the order of the data
  std::map<std::string, std::string> metadata;  // of the file, `__metadata__`
};

struct SafetensorsLimits {
  static constexpr std::int64_t kHeaderBytes = 16 * 1024 * 1024;
  static constexpr std::int64_t kTensors = 100'000;
  static constexpr std::int64_t kRank = 64;
};

/// Reads and checks the header of a file. When it returns, the tensors cover all bytes behind the
/// header, without holes or overlaps, and every shape fits its bytes.
/// Throws ConfigError that names the file and says what is wrong; files of pickle and zip (.pt,
/// .bin) are named as such. Allocates no more than a small multiple of the header.
SafetensorsHeader read_safetensors_header(const std::string& path);

/// The first bytes of a file that holds `tensors` one after the other: the length, the JSON,
/// padding so that the data start at a multiple of 8. Fills each tensor's `begin` and `end`. Throws
/// std::invalid_argument where the reader would refuse the file.
std::string write_safetensors_header(std::span<SafetensorsEntry> tensors,
                                     const std::map<std::string, std::string>& metadata = {});

/// Data of a BOOL tensor must be 0 or 1: as a C++ bool, anything else is undefined behaviour.
/// Throws ConfigError that names the tensor.
void check_boolean_bytes(std::string_view bytes, const std::string& name);

}  // namespace headroom
