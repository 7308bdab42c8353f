// SPDX-License-Identifier: Apache-2.0
#include "models/table.h"

#include <string>
#include <string_view>
#include <vector>

#include "src/core/error.h"
#include "src/core/table.h"

namespace headroom {

// One function a family, at the end of its .cpp.
std::span<const ModelEntry> vit_models();
std::span<const ModelEntry> bert_models();
std::span<const ModelEntry> distilbert_models();
std::span<const ModelEntry> bigbird_models();
std::span<const ModelEntry> gpt2_models();
std::span<const ModelEntry> llama_models();
std::span<const ModelEntry> resnet_models();

std::span<const ModelEntry> model_table() {
  static const std::vector<ModelEntry> table = [] {
    std::vector<ModelEntry> entries;
    for (const auto family : {
             vit_models(),
             bert_models(),
             distilbert_models(),
             bigbird_models(),
             gpt2_models(),
             llama_models(),
             resnet_models(),
         }) {
      entries.insert(entries.end(), family.begin(), family.end());
    }
    return entries;
  }();
  return table;
}

namespace {

void size_fields(Fields& f, ModelSize& size) {
  std::vector<std::string_view> sizable;
  for (const ModelEntry& entry : model_table()) {
    if (entry.takes_size) sizable.push_back(entry.name);
  }
  f.integer(
      {.name = "layers", .summary = "repeated layers; 0: as the name says", .only_with = sizable},
      size.layers, {0, 1024});
  f.integer({.name = "width",
             .summary = "numbers that a token has between layers; 0: as the name says",
             .only_with = sizable},
            size.width, {0, 65'536});
  f.integer({.name = "heads",
             .summary = "heads of attention, which share the width; 0: as the name says",
             .only_with = sizable},
            size.heads, {0, 1024});
}

}  // namespace

void ModelOptions::fields(Fields& f) {
  std::vector<Choice> names;
  for (const ModelEntry& entry : model_table()) names.push_back({entry.name, entry.summary});
  f.choice({.name = "name", .summary = "the network", .required = true}, name, names);
  f.integer({.name = "num_classes",
             .summary = "classes to tell apart; language models tell tokens apart"},
            num_classes, {1, 100'000});
  f.choice({.name = "attention", .summary = "the kernel for attention: it decides what is kept"},
           attention);
  f.number({.name = "dropout", .summary = "probability with which a value is dropped"}, dropout,
           {0.0, 0.9});
  f.text({.name = "weights",
          .summary = "saved weights to begin with, a safetensors file or a folder of them; empty: "
                     "the seed's"},
         weights);
  static constexpr Choice kHeads[] = {
      {"saved", "as in the saved weights"},
      {"new", "as the seed has it, where their classes are others"}};
  f.choice({.name = "head", .summary = "what the head begins with, beside saved weights"}, head,
           kHeads);
  size_fields(f, size);
}

void check_heads(const ModelOptions& options, std::int64_t width, std::int64_t heads) {
  if (width % heads == 0) return;
  throw ConfigError(options.name + " of width " + std::to_string(width) + " with " +
                    std::to_string(heads) +
                    " heads: model.width must be a multiple of model.heads");
}

void check_positions(const ModelOptions& options, const InputShape& shape, std::int64_t positions) {
  if (shape.sequence_length < 1 || shape.sequence_length > positions) {
    throw ConfigError(options.name + " reads 1 to " + std::to_string(positions) +
                      " tokens; the sequence length is " + std::to_string(shape.sequence_length));
  }
}

const ModelEntry& find_model(std::string_view name) {
  return find_entry(model_table(), "model", name);
}

}  // namespace headroom
