// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "models/model.h"
#include "models/table.h"

namespace headroom {

/// What tells one GPT-2 from another. The MLP is four times as wide as the rest.
struct Gpt2Size {
  std::int64_t layers;
  std::int64_t width;  // D
  std::int64_t heads;  // H
  std::int64_t vocabulary = 50257;
  std::int64_t positions = 1024;

  std::int64_t head_width() const { return width / heads; }
};

inline constexpr Gpt2Size kGpt2Mini{.layers = 4, .width = 256, .heads = 4};
inline constexpr Gpt2Size kGpt2{.layers = 12, .width = 768, .heads = 12};
/// 7,467,786,240 parameters: the 7.5B of Narayanan et al. 2021, arXiv:2104.04473, table 1.
inline constexpr Gpt2Size kGpt2_7_5B{
    .layers = 36, .width = 4096, .heads = 32, .vocabulary = 51200, .positions = 2048};

/// GPT-2 with a head for the next token, which shares the weights of the tokens' embedding. Source:
/// transformers' GPT2LMHeadModel, its names, initial values and operations; Radford et al. 2019,
/// "Language models are unsupervised multitask learners". Its logits are (B, T, V). `dropout`
/// stands for embd_pdrop, attn_pdrop and resid_pdrop; `num_classes` says nothing here.
/// Backward of one batch must end before the next batch's forward: the blocks share its mask.
/// Throws ConfigError for more tokens than it has positions.
std::unique_ptr<Model> make_gpt2(const Gpt2Size& size, const ModelOptions& options,
                                 const InputShape& shape, ParameterFactory parameters);

}  // namespace headroom
