// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/support/case.h"

// Trains small cases on several ranks, each a process (rank_trainer), and reads what they saw.
namespace headroom {

inline constexpr std::int64_t kFloatBytes = 4;

// What these tests train with, where a test says nothing else.
inline const Json kSgd = {{"name", "sgd"}, {"lr", 0.02}, {"momentum", 0.9}};
inline const Json kAdamW = {{"name", "adamw"}, {"lr", 1e-3}, {"weight_decay", 0.01}};

/// vit_ti_16 on digits of 32 pixels, AdamW, `batch_size` samples a rank, on `ranks` ranks.
Json small_vit(std::int64_t ranks, std::int64_t batch_size);
/// The same with vit_mini: where many steps are taken, and no figure depends on the size.
Json mini_vit(std::int64_t ranks, std::int64_t batch_size);
/// bert_mini on 16 random tokens, or gpt2_mini on 4, likewise.
Json small_bert(std::int64_t ranks, std::int64_t batch_size);
Json small_gpt2(std::int64_t ranks, std::int64_t batch_size);
/// llama_mini of 2 layers of width 64, 4 heads of queries and 2 of keys, on 4 random tokens.
Json small_llama(std::int64_t ranks, std::int64_t batch_size);

/// resnet_mini on digits of 64 pixels, likewise.
Json mini_resnet(std::int64_t ranks, std::int64_t batch_size);

/// What one rank saw, and its weights as the bytes of all parameters in order.
struct RankSaw {
  Json seen;
  std::string weights;
};

/// Takes `steps` steps on all ranks at once. A rank that fails fails the test.
std::vector<RankSaw> train(const Json& values, int steps);

/// Why no rank trains it, of which all give one reason.
std::string refusal(const Json& values);

/// What its first rank saw, once for equal arguments. Keeps what it returns.
const RankSaw& trained_once(const Json& values, int steps);

/// A whole number of what a rank saw, by the path of rank_trainer.cpp's JSON.
std::int64_t number(const RankSaw& rank, const char* path);

/// The techniques that may stand beside `technique`, as this build's catalog says, and that no
/// stack holds together with it.
std::set<std::string> partners_left_out(const std::string& technique,
                                        const std::vector<std::vector<Json>>& stacks);

/// The largest distance of weights over the largest weight, fp64 weights.
double weight_distance(const RankSaw& a, const RankSaw& b);
/// The largest relative distance of losses.
double loss_distance(const RankSaw& a, const RankSaw& b);

}  // namespace headroom
