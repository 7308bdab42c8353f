// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "models/attention.h"
#include "models/model.h"
#include "models/parameters.h"
#include "src/core/fields.h"

namespace headroom {

/// What a suite may set of a model's size. 0: as its name says.
struct ModelSize {
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;
};

/// What a suite may say of a model.
struct ModelOptions {
  std::string name;
  std::int64_t num_classes = 10;
  Attention attention = Attention::automatic;
  double dropout = 0.0;
  std::string weights = {};  // a file or folder of saved weights; empty: the seed's
  std::string head = "saved";
  ModelSize size = {};

  void fields(Fields& f);
  bool has_new_head() const { return head == "new"; }
};

/// What the data decide about a model. One of the two, by the kind of model.
struct InputShape {
  std::int64_t image_size = 0;       // pixels, square
  std::int64_t sequence_length = 0;  // tokens
};

enum class InputKind { image, text };

/// What a model's blocks hand to each other.
enum class Between {
  tokens,  // (B, T, D), of one shape
  images,  // (B, C, H, W), of which all but B may change
};

/// Throws ConfigError where a model of so many positions has none for some token.
void check_positions(const ModelOptions& options, const InputShape& shape, std::int64_t positions);

/// Throws ConfigError where the heads can't share the width equally.
void check_heads(const ModelOptions& options, std::int64_t width, std::int64_t heads);

/// The size that `named` has by its name, with what the options set. `Size` has layers, width and
/// heads; whatever else depends on these, it derives from them.
/// Throws ConfigError where the heads can't share the width equally.
template <class Size>
Size sized(Size named, const ModelOptions& options) {
  if (options.size.layers > 0) named.layers = options.size.layers;
  if (options.size.width > 0) named.width = options.size.width;
  if (options.size.heads > 0) named.heads = options.size.heads;
  check_heads(options, named.width, named.heads);
  return named;
}

/// One model that a suite can name. The .cpp of a family ends with the entries of its models.
struct ModelEntry {
  std::string_view name;
  std::string_view summary;
  InputKind input;
  /// Builds the model; its parameters come from `parameters`.
  /// Throws ConfigError where the shape does not fit (an image size no multiple of the patch, more
  /// tokens than the model has positions).
  std::unique_ptr<Model> (*make)(const ModelOptions& options, const InputShape& shape,
                                 ParameterFactory parameters);
  std::int64_t vocabulary = 0;  // ids of tokens it reads: 0 up to this; of texts alone
  bool tells_tokens = false;    // it has logits for each token, (B, T, C)
  bool takes_size = false;      // a suite may set its layers, width and heads
  Between between = Between::tokens;
  /// Blocks name the linear layers that they multiply by: ranks may cut these, and lora tunes them.
  bool names_layers = true;
  bool has_attention = true;  // else ModelOptions::attention can only be automatic
  /// While it trains, a sample's logits depend on the others of its micro-batch: batch
  /// normalisation. Then micro-batches have other losses and gradients than the batch.
  bool mixes_samples = false;
  /// While it trains, forward sends the device numbers that the host drew.
  bool draws_on_host = false;
  /// How many times farther than elsewhere a technique's rounding may move the first gradient's
  /// norm: divisions by small deviations make more of it.
  double gradient_rounding = 1.0;
};

/// All models, in the order in which `headroom list models` prints them.
std::span<const ModelEntry> model_table();

/// The entry of that name; throws ConfigError with the allowed names.
const ModelEntry& find_model(std::string_view name);

}  // namespace headroom
