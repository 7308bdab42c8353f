// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "src/core/file.h"
#include "src/core/file_identity.h"
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
  /// Throws ConfigError where the file is malformed, or changes meanwhile.
  explicit TensorFile(const std::string& path);

  const std::string& path() const { return path_; }
  const SafetensorsHeader& header() const { return header_; }
  /// On the CPU, in the dtype of the file, in memory of its own. Throws ConfigError where somebody
  /// has written to the file since it was opened, or cut it. Another file of its name is not read.
  at::Tensor read(const SafetensorsEntry& entry);

 private:
  void check_is_unchanged(const FileIdentity& now) const;

  std::string path_;
  FileDescriptor file_;
  FileIdentity identity_;
  SafetensorsHeader header_;
};

/// All tensors of a file, as TensorFile reads them. Throws ConfigError.
NamedTensors read_tensors(const std::string& path);

/// Writes the tensors, from any device, as one file; replaces it or leaves it as it was. Where the
/// path names a pipe or a device, they go into it. Throws as write_output() does.
void write_tensors(const std::string& path, const NamedTensors& tensors,
                   const Metadata& metadata = {});

}  // namespace headroom
