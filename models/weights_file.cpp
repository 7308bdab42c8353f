// SPDX-License-Identifier: Apache-2.0
#include "models/weights_file.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/enum_names.h"
#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/safetensors.h"

namespace headroom {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::array kTypes = {
    std::pair{SafetensorsType::F64, at::kDouble},
    std::pair{SafetensorsType::F32, at::kFloat},
    std::pair{SafetensorsType::F16, at::kHalf},
    std::pair{SafetensorsType::BF16, at::kBFloat16},
    std::pair{SafetensorsType::F8_E5M2, at::kFloat8_e5m2},
    std::pair{SafetensorsType::F8_E4M3, at::kFloat8_e4m3fn},
    std::pair{SafetensorsType::F8_E8M0, at::kFloat8_e8m0fnu},
    std::pair{SafetensorsType::C64, at::kComplexFloat},
    std::pair{SafetensorsType::I64, at::kLong},
    std::pair{SafetensorsType::I32, at::kInt},
    std::pair{SafetensorsType::I16, at::kShort},
    std::pair{SafetensorsType::I8, at::kChar},
    std::pair{SafetensorsType::U64, at::kUInt64},
    std::pair{SafetensorsType::U32, at::kUInt32},
    std::pair{SafetensorsType::U16, at::kUInt16},
    std::pair{SafetensorsType::U8, at::kByte},
    std::pair{SafetensorsType::BOOL, at::kBool},
};
static_assert(kTypes.size() == enum_names<SafetensorsType>().size());

at::ScalarType to_scalar_type(SafetensorsType type) {
  return std::ranges::find(kTypes, type, &decltype(kTypes)::value_type::first)->second;
}

SafetensorsType to_safetensors_type(at::ScalarType type) {
  const auto* found = std::ranges::find(kTypes, type, &decltype(kTypes)::value_type::second);
  if (found == kTypes.end()) {
    throw std::invalid_argument(std::string("safetensors files have no type for ") +
                                c10::toString(type));
  }
  return found->first;
}

/// Reads single tensors of a file whose header was checked.
class TensorFile {
 public:
  explicit TensorFile(const std::string& path)
      : path_(path), header_(read_safetensors_header(path)), stream_(path, std::ios::binary) {}

  const std::vector<SafetensorsEntry>& entries() const { return header_.tensors; }

  at::Tensor read(const SafetensorsEntry& entry) {
    // As bytes first: a bool in memory must be 0 or 1 before it is one.
    const std::int64_t size = entry.end - entry.begin;
    const at::Tensor bytes = at::empty({size}, at::kByte);
    auto* data = reinterpret_cast<char*>(bytes.mutable_data_ptr<std::uint8_t>());
    stream_.seekg(entry.begin);
    if (!stream_.read(data, size)) {
      throw ConfigError(Place{.file = path_}, "can't read the data of '" + entry.name + "'");
    }
    if (entry.type == SafetensorsType::BOOL) {
      check_boolean_bytes({data, static_cast<std::size_t>(size)}, entry.name);
    }
    return bytes.view(to_scalar_type(entry.type)).view(entry.shape);
  }

 private:
  std::string path_;
  SafetensorsHeader header_;
  std::ifstream stream_;
};

std::string shape_text(at::IntArrayRef shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "(" + text + ")";
}

/// What keeps `entry` from being the parameter; empty: nothing.
std::string mismatch(const SafetensorsEntry& entry, const at::Tensor& parameter) {
  if (parameter.sizes() != at::IntArrayRef(entry.shape)) {
    return entry.name + " is " + shape_text(entry.shape) + ", not " + shape_text(parameter.sizes());
  }
  if (!at::isFloatingType(to_scalar_type(entry.type))) {
    return entry.name + " is " + std::string(enum_name(entry.type)) + ", not floating point";
  }
  return {};
}

/// "; missing: a, b, and 7 more", or nothing where there are no names.
std::string list(std::string_view title, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 10;
  if (names.empty()) return {};
  std::string text = "; " + std::string(title) + ": ";
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMost) text += ", and " + std::to_string(names.size() - kMost) + " more";
  return text;
}

using ParameterMap = std::map<std::string, at::Tensor>;

void check_names(const std::string& path, const std::vector<SafetensorsEntry>& entries,
                 const ParameterMap& parameters) {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> different;
  std::set<std::string> seen;
  for (const SafetensorsEntry& entry : entries) {
    seen.insert(entry.name);
    const auto found = parameters.find(entry.name);
    if (found == parameters.end()) {
      unexpected.push_back(entry.name);
    } else if (std::string text = mismatch(entry, found->second); !text.empty()) {
      different.push_back(std::move(text));
    }
  }
  for (const auto& [name, tensor] : parameters) {
    if (!seen.contains(name)) missing.push_back(name);
  }
  const std::string text =
      list("missing", missing) + list("unexpected", unexpected) + list("different", different);
  if (!text.empty()) {
    throw ConfigError(Place{.file = path}, "these are not the model's weights" + text);
  }
}

}  // namespace

NamedTensors read_tensors(const std::string& path) {
  TensorFile file(path);
  NamedTensors tensors;
  for (const SafetensorsEntry& entry : file.entries()) tensors[entry.name] = file.read(entry);
  return tensors;
}

void load_weights(const std::string& path, Model& model) {
  TensorFile file(path);
  ParameterMap parameters;
  for (const Parameter& parameter : model.parameters()) {
    parameters[parameter.name] = parameter.tensor;
  }
  check_names(path, file.entries(), parameters);
  const at::NoGradGuard no_grad;
  for (const SafetensorsEntry& entry : file.entries()) {
    parameters.at(entry.name).copy_(file.read(entry));
  }
}

void write_tensors(const std::string& path, const NamedTensors& tensors) {
  std::vector<SafetensorsEntry> entries;
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor plain = tensor.detach().to(at::kCPU).contiguous();
    entries.push_back({.name = name,
                       .type = to_safetensors_type(plain.scalar_type()),
                       .shape = plain.sizes().vec()});
    data.append(static_cast<const char*>(plain.const_data_ptr()), plain.nbytes());
  }
  write_file_atomically(path, write_safetensors_header(entries) + data);
}

}  // namespace headroom
