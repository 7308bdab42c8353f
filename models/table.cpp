// SPDX-License-Identifier: Apache-2.0
#include "models/table.h"

#include <array>
#include <string>

#include "models/bert.h"
#include "models/distilbert.h"
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
    ModelEntry{"bert_mini", "BERT, mini: 4 layers of width 256", InputKind::text, bert<kBertMini>},
    ModelEntry{"bert_base", "BERT, base: 12 layers of width 768", InputKind::text, bert<kBertBase>},
    ModelEntry{"bert_large", "BERT, large: 24 layers of width 1024", InputKind::text,
               bert<kBertLarge>},
    ModelEntry{"distilbert", "DistilBERT: 6 layers of width 768", InputKind::text, make_distilbert},
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
  f.integer({.name = "num_classes", .summary = "classes to tell apart"}, num_classes, {1, 100'000});
  f.choice({.name = "attention", .summary = "the kernel for attention: it decides what is kept"},
           attention);
  f.number({.name = "dropout", .summary = "probability with which a value is dropped"}, dropout,
           {0.0, 0.9});
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
