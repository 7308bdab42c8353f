// SPDX-License-Identifier: Apache-2.0
#include "src/core/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <unordered_set>

#include "src/core/enum_names.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/json.h"
#include "src/core/text.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kLengthBytes = 8;
constexpr std::string_view kMetadataKey = "__metadata__";

// Faults are std::invalid_argument in here; who reads a file adds its name.
[[noreturn]] void refuse_header(const std::string& message) {
  throw std::invalid_argument(message);
}

std::string quote(std::string_view name) { return "tensor " + Json(name).dump(); }

std::uint64_t decode_length(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return length;
}

std::string encode_length(std::uint64_t length) {
  std::string bytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i) bytes += static_cast<char>(length >> (8 * i));
  return bytes;
}

/// Names may serve as paths, in terminals and in C strings.
void check_name(std::string_view name) {
  if (name.empty()) refuse_header("a tensor has an empty name");
  for (std::string_view rest = name; !rest.empty();) {
    const CodePoint point = decode_utf8(rest);
    if (point.bytes == 0) refuse_header("a tensor's name is no valid UTF-8");
    if (is_control(point.value)) refuse_header(quote(name) + ": a control character in the name");
    rest.remove_prefix(point.bytes);
  }
  std::string path = "/" + std::string(name) + "/";
  std::replace(path.begin(), path.end(), '\\', '/');
  if (name.front() == '/' || name.front() == '\\' || path.find("/../") != std::string::npos) {
    refuse_header(quote(name) + ": the name is a path out of its folder");
  }
}

/// The bytes of a tensor. A dimension of 0 makes it empty, but the others must still be sizes that
/// LibTorch can hold, so they count in the check.
std::int64_t bytes_of(const SafetensorsEntry& tensor) {
  if (std::ssize(tensor.shape) > SafetensorsLimits::kRank) {
    refuse_header(quote(tensor.name) + ": more than " + std::to_string(SafetensorsLimits::kRank) +
                  " dimensions");
  }
  std::int64_t bytes = element_bytes(tensor.type);
  bool empty = false;
  for (const std::int64_t dimension : tensor.shape) {
    if (dimension < 0) refuse_header(quote(tensor.name) + ": a negative dimension");
    empty = empty || dimension == 0;
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(dimension, 1), &bytes)) {
      refuse_header(quote(tensor.name) + ": the shape overflows 64 bits");
    }
  }
  return empty ? 0 : bytes;
}

SafetensorsType parse_type(const Json& value, const std::string& name) {
  const auto names = enum_names<SafetensorsType>();
  const auto found = std::find(names.begin(), names.end(), value.get_ref<const std::string&>());
  if (found == names.end()) refuse_header(quote(name) + ": unknown dtype " + value.dump());
  return static_cast<SafetensorsType>(found - names.begin());
}

std::vector<std::int64_t> parse_integers(const Json& value, const std::string& where) {
  std::vector<std::int64_t> integers;
  for (const Json& element : value) {
    if (!element.is_number_integer())
      refuse_header(where + ": " + element.dump() + " is no integer");
    integers.push_back(element.get<std::int64_t>());
  }
  return integers;
}

/// `begin` and `end` as in the header: counted from the start of the data.
SafetensorsEntry parse_tensor(const std::string& name, const Json& value) {
  check_name(name);
  if (!value.is_object()) refuse_header(quote(name) + ": not an object");
  const auto type = value.find("dtype");
  const auto shape = value.find("shape");
  const auto offsets = value.find("data_offsets");
  if (type == value.end() || !type->is_string())
    refuse_header(quote(name) + ": dtype must be a text");
  if (shape == value.end() || !shape->is_array())
    refuse_header(quote(name) + ": shape must be a list");
  if (offsets == value.end() || !offsets->is_array() || offsets->size() != 2) {
    refuse_header(quote(name) + ": data_offsets must be a list of 2 integers");
  }
  if (value.size() != 3)
    refuse_header(quote(name) + ": only dtype, shape and data_offsets are allowed");

  const std::vector<std::int64_t> range = parse_integers(*offsets, quote(name) + ": data_offsets");
  SafetensorsEntry tensor{.name = name,
                          .type = parse_type(*type, name),
                          .shape = parse_integers(*shape, quote(name) + ": shape"),
                          .begin = range[0],
                          .end = range[1]};
  if (tensor.begin < 0 || tensor.end < tensor.begin) {
    refuse_header(quote(name) + ": data_offsets must be a range");
  }
  if (tensor.end - tensor.begin != bytes_of(tensor)) {
    refuse_header(quote(name) + ": the shape has " + std::to_string(bytes_of(tensor)) +
                  " bytes, the data_offsets " + std::to_string(tensor.end - tensor.begin));
  }
  return tensor;
}

std::map<std::string, std::string> parse_metadata(const Json& value) {
  if (!value.is_object()) refuse_header("__metadata__ must be an object");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) refuse_header("__metadata__ must hold texts only");
    metadata.emplace(key, text.get<std::string>());
  }
  return metadata;
}

/// Sorts the tensors by their data, makes their ranges count from the start of the file, and checks
/// that they cover all `data_bytes` once.
void place_tensors(std::vector<SafetensorsEntry>& tensors, std::int64_t data_start,
                   std::int64_t data_bytes) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::int64_t covered = 0;
  for (SafetensorsEntry& tensor : tensors) {
    if (tensor.begin != covered) {
      refuse_header(quote(tensor.name) + (tensor.begin > covered ? ": a hole before its data"
                                                                 : ": its data overlap another's"));
    }
    covered = tensor.end;
    // Ranges within the file don't overflow; those beyond it are refused here.
    if (covered > data_bytes)
      refuse_header(quote(tensor.name) + ": its data pass the end of the file");
    tensor.begin += data_start;
    tensor.end += data_start;
  }
  if (covered != data_bytes) {
    refuse_header(std::to_string(data_bytes - covered) + " bytes at the end belong to no tensor");
  }
}

SafetensorsHeader parse_header(std::string_view text, std::int64_t data_bytes) {
  if (!text.starts_with('{')) refuse_header("the header must start with {");
  // Room for the most tensors with a dozen values each; it bounds memory by a few times the file.
  const Json root = read_json(text, {.bytes = SafetensorsLimits::kHeaderBytes,
                                     .depth = 4,
                                     .values = SafetensorsLimits::kTensors * 12});
  SafetensorsHeader header;
  for (const auto& [name, value] : root.items()) {
    if (name == kMetadataKey) {
      header.metadata = parse_metadata(value);
      continue;
    }
    if (std::ssize(header.tensors) == SafetensorsLimits::kTensors) {
      refuse_header("more than " + std::to_string(SafetensorsLimits::kTensors) + " tensors");
    }
    header.tensors.push_back(parse_tensor(name, value));
  }
  place_tensors(header.tensors, kLengthBytes + std::ssize(text), data_bytes);
  return header;
}

/// What a file that starts with no length could be.
std::string magic_of(std::string_view start) {
  const bool zip = start.starts_with("PK\x03\x04");
  const bool pickle = start.size() > 1 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5;
  if (!zip && !pickle) return {};
  return std::string("this is a ") + (zip ? "zip" : "pickle") +
         " file, as torch.save writes (.pt, .bin). It may run code when loaded and is not read; "
         "save the weights as safetensors. ";
}

SafetensorsHeader read_header(const std::string& path) {
  const FileStart start = read_file_start(path, kLengthBytes);
  const std::string magic = magic_of(start.bytes);
  if (std::ssize(start.bytes) < kLengthBytes) {
    refuse_header(magic + "the file ends before the length of its header");
  }
  const std::uint64_t length = decode_length(start.bytes);
  if (length > SafetensorsLimits::kHeaderBytes) {
    refuse_header(magic + "the header would have " + std::to_string(length) + " bytes; at most " +
                  std::to_string(SafetensorsLimits::kHeaderBytes) + " are allowed");
  }
  const std::int64_t data_start = kLengthBytes + static_cast<std::int64_t>(length);
  if (data_start > start.size) refuse_header(magic + "the file ends inside its header");
  const FileStart header = read_file_start(path, static_cast<std::size_t>(data_start));
  if (std::ssize(header.bytes) < data_start) refuse_header("the file ends inside its header");
  return parse_header(std::string_view(header.bytes).substr(kLengthBytes),
                      header.size - data_start);
}

}  // namespace

std::int64_t element_bytes(SafetensorsType type) {
  switch (type) {
    case SafetensorsType::F64:
    case SafetensorsType::C64:
    case SafetensorsType::I64:
    case SafetensorsType::U64:
      return 8;
    case SafetensorsType::F32:
    case SafetensorsType::I32:
    case SafetensorsType::U32:
      return 4;
    case SafetensorsType::F16:
    case SafetensorsType::BF16:
    case SafetensorsType::I16:
    case SafetensorsType::U16:
      return 2;
    default:
      return 1;
  }
}

SafetensorsHeader read_safetensors_header(const std::string& path) {
  try {
    return read_header(path);
  } catch (const std::invalid_argument& error) {
    throw ConfigError(Place{.file = path}, error.what());
  } catch (const JsonError& error) {
    throw ConfigError(Place{.file = path}, std::string("the header is no JSON: ") + error.what());
  }
}

std::string write_safetensors_header(std::span<SafetensorsEntry> tensors,
                                     const std::map<std::string, std::string>& metadata) {
  Json root = Json::object();
  if (!metadata.empty()) root[kMetadataKey] = metadata;
  std::unordered_set<std::string> names{std::string(kMetadataKey)};
  std::int64_t offset = 0;
  for (SafetensorsEntry& tensor : tensors) {
    check_name(tensor.name);
    if (!names.insert(tensor.name).second)
      refuse_header(quote(tensor.name) + ": the name stands twice");
    tensor.begin = offset;
    if (__builtin_add_overflow(offset, bytes_of(tensor), &offset)) {
      refuse_header("the tensors overflow 64 bits");
    }
    tensor.end = offset;
    root.get_ref<Json::object_t&>().emplace_back(
        tensor.name, Json{{"dtype", enum_name(tensor.type)},
                          {"shape", tensor.shape},
                          {"data_offsets", {tensor.begin, tensor.end}}});
  }
  std::string text = root.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  for (SafetensorsEntry& tensor : tensors) {
    tensor.begin += kLengthBytes + std::ssize(text);
    tensor.end += kLengthBytes + std::ssize(text);
  }
  return encode_length(text.size()) + text;
}

void check_boolean_bytes(std::string_view bytes, const std::string& name) {
  const bool valid =
      std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0 || c == 1; });
  if (!valid) throw ConfigError(quote(name) + ": a BOOL that is neither 0 nor 1");
}

}  // namespace headroom
