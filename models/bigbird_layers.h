// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/TensorOperators.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/layers.h"
#include "models/random_blocks.h"

// The parameters of BigBird, in the reference's order.
// B batch, T tokens, D width, H heads, I intermediate width, C classes, V vocabulary
namespace headroom {

/// What tells one BigBird from another.
struct BigBirdSize {
  std::int64_t width;  // D
  std::int64_t layers;
  std::int64_t heads;         // H
  std::int64_t intermediate;  // I, width of the feed-forward layer
  BlockSparse sparse;

  std::int64_t head_width() const { return width / heads; }
  bool attends_by_blocks(std::int64_t tokens) const { return tokens > sparse.most_full(); }
  /// So many tokens, and the padding behind them.
  std::int64_t padded(std::int64_t tokens) const {
    if (!attends_by_blocks(tokens)) return tokens;
    return (tokens + sparse.block - 1) / sparse.block * sparse.block;
  }
};

inline constexpr std::int64_t kBigBirdVocabulary = 50358;  // V

inline std::string bigbird_layer_name(std::size_t index) {
  return "bert.encoder.layer." + std::to_string(index);
}

struct BigBirdEmbeddings {
  Embedding word_embeddings;        // (V, D)
  Embedding position_embeddings;    // (positions, D)
  Embedding token_type_embeddings;  // (2, D)
  LayerNorm layer_norm;

  BigBirdEmbeddings(ParameterFactory& parameters, const std::string& name, const BigBirdSize& size)
      : word_embeddings(normal_embedding(parameters, name + ".word_embeddings",
                                         {kBigBirdVocabulary, size.width}, kPaddingToken)),
        position_embeddings(normal_embedding(parameters, name + ".position_embeddings",
                                             {size.sparse.positions, size.width})),
        token_type_embeddings(
            normal_embedding(parameters, name + ".token_type_embeddings", {2, size.width})),
        layer_norm(parameters, name + ".LayerNorm", size.width, kBertEpsilon) {}

  at::Tensor sum(const at::Tensor& ids) const {  // (B, T) -> (B, T, D)
    // All tokens are of type 0: there is one sentence.
    at::Tensor x = word_embeddings(ids) + token_type_embeddings(at::zeros_like(ids));
    return x += position_embeddings(position_ids(ids));
  }
};

struct BigBirdLayer {
  Linear query, key, value;  // (D, D)
  Linear attention_output;   // (D, D)
  LayerNorm attention_norm;
  Linear intermediate;  // (I, D)
  Linear output;        // (D, I)
  LayerNorm output_norm;
  std::vector<std::int64_t> random;  // (H, blocks - 2, R); empty where all keys are read

  BigBirdLayer(ParameterFactory& parameters, const std::string& name, const BigBirdSize& size)
      : query(normal_linear(parameters, name + ".attention.self.query", size.width, size.width)),
        key(normal_linear(parameters, name + ".attention.self.key", size.width, size.width)),
        value(normal_linear(parameters, name + ".attention.self.value", size.width, size.width)),
        attention_output(
            normal_linear(parameters, name + ".attention.output.dense", size.width, size.width)),
        attention_norm(parameters, name + ".attention.output.LayerNorm", size.width, kBertEpsilon),
        intermediate(
            normal_linear(parameters, name + ".intermediate.dense", size.width, size.intermediate)),
        output(normal_linear(parameters, name + ".output.dense", size.intermediate, size.width)),
        output_norm(parameters, name + ".output.LayerNorm", size.width, kBertEpsilon) {}
};

struct BigBirdLayers {
  BigBirdEmbeddings embeddings;
  std::vector<BigBirdLayer> layers;
  Linear pooler;    // (D, D): the reference has it, and nothing that it trains reads its output
  Linear dense;     // (D, D)
  Linear out_proj;  // (C, D)

  BigBirdLayers(ParameterFactory& parameters, const BigBirdSize& size, std::int64_t tokens,
                std::int64_t classes)
      : embeddings(parameters, "bert.embeddings", size),
        layers(make_layers(parameters, size, tokens)),
        pooler(normal_linear(parameters, "bert.pooler", size.width, size.width)),
        dense(normal_linear(parameters, "classifier.dense", size.width, size.width)),
        out_proj(normal_linear(parameters, "classifier.out_proj", size.width, classes)) {}

 private:
  static std::vector<BigBirdLayer> make_layers(ParameterFactory& parameters,
                                               const BigBirdSize& size, std::int64_t tokens) {
    std::vector<BigBirdLayer> made;
    for (std::int64_t i = 0; i < size.layers; ++i) {
      made.emplace_back(parameters, bigbird_layer_name(made.size()), size);
      if (!size.attends_by_blocks(tokens)) continue;
      made.back().random = random_blocks(size.sparse, size.padded(tokens), size.heads,
                                         static_cast<std::uint32_t>(i));
    }
    return made;
  }
};

}  // namespace headroom
