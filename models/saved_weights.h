// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/parameters.h"
#include "models/tensor_file.h"
#include "models/weight_parts.h"

namespace headroom {

/// The weights of a model as they were saved: one safetensors file, or a folder of such files, in
/// which ranks have put their parts. However they are cut, they are read whole.
class SavedWeights {
 public:
  /// Reads headers alone. Throws ConfigError where a file is malformed, the folder has none, or its
  /// parts of a tensor overlap, leave something out or do not fit together.
  explicit SavedWeights(const std::string& path);

  /// Throws ConfigError unless these are just the model's parameters: same names, same shapes,
  /// floating point. It lists the names that are missing, unexpected or different.
  void check(std::span<const Parameter> parameters) const;
  /// A parameter by its name, whole, on the CPU, in the dtype of the file.
  at::Tensor read(const std::string& name);

 private:
  struct Piece {
    std::size_t file;
    SafetensorsEntry entry;
    TensorPart part;
  };

  void check_pieces(const std::string& name, std::span<const Piece> pieces) const;

  std::string path_;
  std::vector<TensorFile> files_;
  std::map<std::string, std::vector<Piece>> pieces_;  // never without one
};

/// Replaces a model's parameters by saved ones, which are converted to their dtype.
/// Throws ConfigError where SavedWeights does; the model is as it was then.
void load_weights(const std::string& path, std::span<const Parameter> parameters);

}  // namespace headroom
