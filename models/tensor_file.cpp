// SPDX-License-Identifier: Apache-2.0
#include "models/tensor_file.h"

#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
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

SafetensorsType to_safetensors_type(at::ScalarType type) {
  const auto* found = std::ranges::find(kTypes, type, &decltype(kTypes)::value_type::second);
  if (found == kTypes.end()) {
    throw std::invalid_argument(std::string("safetensors files have no type for ") +
                                c10::toString(type));
  }
  return found->first;
}

}  // namespace

at::ScalarType to_scalar_type(SafetensorsType type) {
  return std::ranges::find(kTypes, type, &decltype(kTypes)::value_type::first)->second;
}

// O_NONBLOCK: opening a FIFO would wait for a writer. What can't be opened, the header's reader
// names.
TensorFile::TensorFile(const std::string& path)
    : path_(path),
      file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)),
      identity_(identity_of(file_.get())),
      header_(read_safetensors_header(path)) {
  check_is_unchanged(identity_of(path));
}

void TensorFile::check_is_unchanged(const FileIdentity& now) const {
  if (now != identity_) throw ConfigError(Place{.file = path_}, "it changed while it was read");
}

at::Tensor TensorFile::read(const SafetensorsEntry& entry) {
  // As bytes first: a bool in memory must be 0 or 1 before it is one.
  const std::int64_t size = entry.end - entry.begin;
  const at::Tensor bytes = at::empty({size}, at::kByte);
  auto* data = reinterpret_cast<char*>(bytes.mutable_data_ptr<std::uint8_t>());
  for (std::int64_t done = 0; done < size;) {
    const ssize_t count = uninterrupted([&] {
      return pread(file_.get(), data + done, static_cast<std::size_t>(size - done),
                   entry.begin + done);
    });
    check_is_unchanged(identity_of(file_.get()));
    if (count <= 0) {
      throw ConfigError(Place{.file = path_}, "can't read the data of '" + entry.name + "'");
    }
    done += count;
  }
  if (entry.type == SafetensorsType::BOOL) {
    check_boolean_bytes({data, static_cast<std::size_t>(size)}, entry.name);
  }
  return bytes.view(to_scalar_type(entry.type)).view(entry.shape);
}

NamedTensors read_tensors(const std::string& path) {
  TensorFile file(path);
  NamedTensors tensors;
  for (const SafetensorsEntry& entry : file.header().tensors) {
    tensors[entry.name] = file.read(entry);
  }
  return tensors;
}

void write_tensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  std::vector<SafetensorsEntry> entries;
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor plain = tensor.detach().to(at::kCPU).contiguous();
    entries.push_back({.name = name,
                       .type = to_safetensors_type(plain.scalar_type()),
                       .shape = plain.sizes().vec()});
    data.append(static_cast<const char*>(plain.const_data_ptr()), plain.nbytes());
  }
  write_output(path, write_safetensors_header(entries, metadata) + data);
}

}  // namespace headroom
