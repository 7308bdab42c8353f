// SPDX-License-Identifier: Apache-2.0
#include "models/table.h"

#include <array>
#include <string>

#include "models/bert.h"
#include "models/distilbert.h"
#include "models/gpt2.h"
#include "models/text_model.h"
#include "models/vit.h"
#include "src/core/error.h"

namespace headroom {
namespace {

template <const VitSize& size>
std::unique_ptr<Model> vit(const ModelOptions& options, const InputShape& shape,
                           ParameterFactory parameters) {
  return make_vit(size, options, shape, std::move(parameters));
}

template <const BertSize& size>
std::unique_ptr<Model> bert(const ModelOptions& options, const InputShape& shape,
                            ParameterFactory parameters) {
  return make_bert(size, options, shape, std::move(parameters));
}

template <const Gpt2Size& size>
std::unique_ptr<Model> gpt2(const ModelOptions& options, const InputShape& shape,
                            ParameterFactory parameters) {
  return make_gpt2(size, options, shape, std::move(parameters));
}

constexpr std::array kModels = {
    ModelEntry{"vit_ti_16", "vision transformer, tiny: 12 layers of width 192, 16-pixel patches",
               InputKind::image, vit<kVitTi16>},
    ModelEntry{"vit_s_16", "vision transformer, small: 12 layers of width 384, 16-pixel patches",
               InputKind::image, vit<kVitS16>},
    ModelEntry{"vit_b_16", "vision transformer, base: 12 layers of width 768, 16-pixel patches",
               InputKind::image, vit<kVitB16>},
    ModelEntry{"vit_l_16", "vision transformer, large: 24 layers of width 1024, 16-pixel patches",
               InputKind::image, vit<kVitL16>},
    ModelEntry{"vit_h_14", "vision transformer, huge: 32 layers of width 1280, 14-pixel patches",
               InputKind::image, vit<kVitH14>},
    ModelEntry{"bert_mini", "BERT, mini: 4 layers of width 256", InputKind::text, bert<kBertMini>,
               kVocabulary},
    ModelEntry{"bert_base", "BERT, base: 12 layers of width 768", InputKind::text, bert<kBertBase>,
               kVocabulary},
    ModelEntry{"bert_large", "BERT, large: 24 layers of width 1024", InputKind::text,
               bert<kBertLarge>, kVocabulary},
    ModelEntry{"distilbert", "DistilBERT: 6 layers of width 768", InputKind::text, make_distilbert,
               kVocabulary},
    ModelEntry{"gpt2_mini", "GPT-2, mini: 4 layers of width 256; tells the next token",
               InputKind::text, gpt2<kGpt2Mini>, kGpt2Mini.vocabulary},
    ModelEntry{"gpt2", "GPT-2: 12 layers of width 768; tells the next token", InputKind::text,
               gpt2<kGpt2>, kGpt2.vocabulary},
    ModelEntry{"gpt2_7_5b", "GPT-2's shape at 7.5e9 parameters: 36 layers of width 4096",
               InputKind::text, gpt2<kGpt2_7_5B>, kGpt2_7_5B.vocabulary},
};

constexpr auto kChoices = [] {
  std::array<Choice, kModels.size()> choices;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    choices[i] = {.name = kModels[i].name, .summary = kModels[i].summary};
  }
  return choices;
}();

}  // namespace

void ModelOptions::fields(Fields& f) {
  f.choice({.name = "name", .summary = "the network", .required = true}, name, kChoices);
  f.integer({.name = "num_classes", .summary = "classes to tell apart; gpt2 tells tokens apart"},
            num_classes, {1, 100'000});
  f.choice({.name = "attention", .summary = "the kernel for attention: it decides what is kept"},
           attention);
  f.number({.name = "dropout", .summary = "probability with which a value is dropped"}, dropout,
           {0.0, 0.9});
  f.text({.name = "weights",
          .summary = "saved weights to begin with, a safetensors file or a folder of them; empty: "
                     "the seed's"},
         weights);
}

std::span<const ModelEntry> model_table() { return kModels; }

const ModelEntry& find_model(std::string_view name) {
  std::string allowed;
  for (const ModelEntry& entry : kModels) {
    if (entry.name == name) return entry;
    allowed += (allowed.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw ConfigError("no model '" + std::string(name) + "'; there are " + allowed);
}

}  // namespace headroom
