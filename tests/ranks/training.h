// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// Trains small cases on several ranks, each a process (rank_trainer), and reads what they saw.
namespace headroom {

using Json = nlohmann::ordered_json;

/// vit_ti_16 on digits of 32 pixels, AdamW, `batch_size` samples a rank, on `ranks` ranks.
Json small_vit(std::int64_t ranks, std::int64_t batch_size);

/// A technique as a case lists it.
Json technique(const std::string& name, const Json& options = Json::object());
Json with(Json values, std::initializer_list<Json> techniques);

/// What one rank saw, and its weights as the bytes of all parameters in order.
struct RankSaw {
  Json seen;
  std::string weights;
};

/// Takes `steps` steps on all ranks at once. A rank that fails fails the test.
std::vector<RankSaw> train(const Json& values, int steps);

/// The largest distance of weights over the largest weight, fp64 weights.
double weight_distance(const RankSaw& a, const RankSaw& b);
/// The largest relative distance of losses.
double loss_distance(const RankSaw& a, const RankSaw& b);

}  // namespace headroom
