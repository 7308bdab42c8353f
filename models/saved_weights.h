// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/parameters.h"
#include "models/tensor_file.h"

// Weights in files: the parts that ranks save, and models' weights read whole.
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

/// What one rank has of a parameter, or of a buffer.
struct WeightPart {
  std::string name;
  TensorPart part;
  at::Tensor values;
};

/// Which of the ranks saves its part, and in which saving.
struct Saving {
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  std::string name = {};  // the same for all its ranks, and for no other saving; empty: it has none
};

/// Writes what a rank has of the weights as one safetensors file in `folder`, which it makes:
/// `part-00001-of-00004.safetensors` is that of rank 1. A rank that has none writes none. The
/// file's metadata have the saving's name, under `saving`: a kill may leave parts of an earlier
/// saving beside new ones. Of a
/// tensor that is not whole the file's metadata say, under `parts`, which part it is, as JSON:
/// {"NAME": {"shape": [1000, 8], "dimension": 0, "rows": [[0, 250]]}}; a dimension of -1 means the
/// elements in a row. Throws std::system_error.
void write_weight_parts(const std::string& folder, const Saving& saving,
                        std::span<const WeightPart> parts);

/// What a file says of its tensors' parts, in the order of its header. Throws ConfigError where
/// they are not parts of anything.
std::vector<TensorPart> read_parts(const TensorFile& file);

/// What a model's head begins with, where the rest of it begins with saved weights.
enum class Head {
  saved,
  drawn,  // anew, as the seed has it: for other classes
};

/// The weights of a model as they were saved: one safetensors file, or a folder of such files, in
/// which ranks have put their parts. However they are cut, they are read whole.
class SavedWeights {
 public:
  /// Reads headers alone. Throws ConfigError where a file is malformed, the folder has none, its
  /// files are not of one saving, or its parts of a tensor overlap, leave something out or do not
  /// fit together.
  explicit SavedWeights(const std::string& path);

  /// Calls the file's tensors as the model does (saved_names.h), and leaves out those of a head
  /// where the model begins with one of its own. Throws ConfigError unless they are then just the
  /// model's parameters, but for such a head, and buffers: same names, same shapes, floating point
  /// or integers as those. It lists the names that are missing, unexpected or different.
  void match(std::span<const Parameter> parameters, std::span<const Buffer> buffers, Head head);
  /// Whether the tensor of that name begins as it was saved.
  bool has(const std::string& name) const { return pieces_.contains(name); }
  /// A tensor by its name, whole, on the CPU, in the dtype of the file. Throws ConfigError where
  /// a value is not a number.
  at::Tensor read(const std::string& name);

 private:
  struct Piece {
    std::size_t file;
    SafetensorsEntry entry;
    TensorPart part;
  };

  void check_are_of_one_saving() const;
  void rename(std::span<const Parameter> parameters);
  void check(const NamedTensors& wanted) const;
  void check_pieces(const std::string& name, std::span<const Piece> pieces) const;

  std::string path_;
  std::vector<TensorFile> files_;
  std::map<std::string, std::vector<Piece>> pieces_;  // never without one
};

/// Replaces a model's parameters and buffers by saved ones, which are converted to their dtypes.
/// Throws ConfigError where SavedWeights does. The model is as it was then, but where a value is
/// not a number: those before it are replaced.
void load_weights(const std::string& path, std::span<const Parameter> parameters,
                  std::span<const Buffer> buffers = {});

}  // namespace headroom
