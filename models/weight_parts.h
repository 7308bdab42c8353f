// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/tensor_file.h"

namespace headroom {

/// Which part of a whole tensor another one is: some rows of one dimension.
struct TensorPart {
  static constexpr std::int64_t kFlat = -1;

  struct Rows {
    std::int64_t begin;
    std::int64_t end;
  };

  std::vector<std::int64_t> shape;  // of the whole
  std::int64_t dimension = kFlat;   // that is cut; kFlat: the elements, all in a row
  std::vector<Rows> rows;           // of that dimension, which the part has behind one another

  /// All of a tensor of that shape.
  static TensorPart whole(at::IntArrayRef shape);
  /// How many rows the whole has in `dimension`.
  std::int64_t all_rows() const;
  /// Puts a part's values in their place in the whole.
  void put(const at::Tensor& whole, const at::Tensor& values) const;
};

/// What one rank has of a parameter.
struct WeightPart {
  std::string name;
  TensorPart part;
  at::Tensor values;
};

/// Writes what a rank has of the weights as one safetensors file in `folder`, which it makes:
/// `part-00001-of-00004.safetensors` is that of rank 1. A rank that has none writes none. Of a
/// tensor that is not whole the file's metadata say, under `parts`, which part it is, as JSON:
/// {"NAME": {"shape": [1000, 8], "dimension": 0, "rows": [[0, 250]]}}; a dimension of -1 means the
/// elements in a row. Throws std::system_error.
void write_weight_parts(const std::string& folder, std::int64_t rank, std::int64_t ranks,
                        std::span<const WeightPart> parts);

/// What a file says of its tensors' parts, in the order of its header. Throws ConfigError where
/// they are not parts of anything.
std::vector<TensorPart> read_parts(const TensorFile& file);

}  // namespace headroom
