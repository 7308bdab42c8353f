// SPDX-License-Identifier: Apache-2.0
#include "models/saved_names.h"

#include <algorithm>
#include <array>
#include <set>

namespace headroom {
namespace {

// The first parts of names. Source: the models of torchvision 0.26, timm 1.0 and transformers 5.
constexpr std::array<std::string_view, 12> kHeads{
    "heads",      "head",    "fc",  "classifier",      "pre_classifier",   "score",
    "qa_outputs", "lm_head", "cls", "vocab_transform", "vocab_layer_norm", "vocab_projector",
};

struct Spelling {
  std::string_view old;
  std::string_view today;
};

// transformers before 1.0, as on its hub still; torchvision before 0.14.
constexpr std::array kSpellings{
    Spelling{"LayerNorm.gamma", "LayerNorm.weight"},
    Spelling{"LayerNorm.beta", "LayerNorm.bias"},
    Spelling{".mlp.linear_1.", ".mlp.0."},
    Spelling{".mlp.linear_2.", ".mlp.3."},
};

// Of BERT and DistilBERT 0, 1, ..., of GPT-2 masks.
constexpr std::array<std::string_view, 3> kBuffers{"embeddings.position_ids", ".attn.bias",
                                                   ".attn.masked_bias"};

std::string_view first_part(std::string_view name) { return name.substr(0, name.find('.')); }

/// The first part that all names but those of a head have in common, and its point; or nothing.
std::string prefix_of(std::span<const Parameter> model) {
  std::set<std::string_view> first_parts;
  for (const Parameter& parameter : model) {
    if (!is_of_head(parameter.name)) first_parts.insert(first_part(parameter.name));
  }
  return first_parts.size() == 1 ? std::string(*first_parts.begin()) + "." : "";
}

std::string replaced(std::string text, const Spelling& spelling) {
  const std::size_t at = text.find(spelling.old);
  if (at != std::string::npos) text.replace(at, spelling.old.size(), spelling.today);
  return text;
}

}  // namespace

bool is_of_head(std::string_view name) {
  return std::ranges::find(kHeads, first_part(name)) != kHeads.end();
}

SavedNames::SavedNames(std::span<const Parameter> model, std::span<const std::string> in_file)
    : prefix_(prefix_of(model)) {
  // Of a body alone the reference leaves it out.
  if (std::ranges::any_of(in_file, [&](const auto& name) { return name.starts_with(prefix_); })) {
    prefix_.clear();
  }
}

std::string SavedNames::in_model(const std::string& in_file) const {
  const auto ends_name = [&](std::string_view buffer) { return in_file.ends_with(buffer); };
  if (std::ranges::any_of(kBuffers, ends_name)) return {};
  std::string name = in_file;
  for (const Spelling& spelling : kSpellings) name = replaced(std::move(name), spelling);
  return is_of_head(name) ? name : prefix_ + name;
}

}  // namespace headroom
