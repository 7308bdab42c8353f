// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <fstream>
#include <map>
#include <string>

#include "src/core/safetensors.h"

// Tensors in safetensors files. The format's header is checked in src/core/safetensors.h.
namespace headroom {

using NamedTensors = std::map<std::string, at::Tensor>;
using Metadata = std::map<std::string, std::string>;  // what a file says of itself

/// LibTorch's type of what a file holds.
at::ScalarType to_scalar_type(SafetensorsType type);

/// Reads single tensors of a file.
class TensorFile {
 public:
  /// Throws ConfigError where the file is malformed.
  explicit TensorFile(const std::string& path);

  const std::string& path() const { return path_; }
  const SafetensorsHeader& header() const { return header_; }
  /// On the CPU, in the dtype of the file, in memory of its own. Throws ConfigError where the file
  /// has changed since.
  at::Tensor read(const SafetensorsEntry& entry);

 private:
  std::string path_;
  SafetensorsHeader header_;
  std::ifstream stream_;
};

/// All tensors of a file, as TensorFile reads them. Throws ConfigError.
NamedTensors read_tensors(const std::string& path);

/// Writes the tensors, from any device, as one file; replaces it or leaves it as it was. Where the
/// path names a pipe or a device, they go into it. Throws as write_output() does.
void write_tensors(const std::string& path, const NamedTensors& tensors,
                   const Metadata& metadata = {});

}  // namespace headroom
