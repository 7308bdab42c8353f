// SPDX-License-Identifier: Apache-2.0
#include "src/runner/fit_stack.h"

#include <algorithm>
#include <array>

#include "src/runner/attempt.h"
#include "src/suite/schema.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

// The optimizer's implementation, which stacks name as a technique: one kernel that reads and
// writes everything once. It costs nothing, and the formula is the same.
constexpr std::string_view kFused = "fused";

// Names of techniques, and `fused`, in the order in which a case lists techniques:
// activation_checkpointing stands before activation_offload, which then moves what the former
// keeps. optimizer_offload updates with its own kernel, so fused does not stand beside it. bfloat16
// comes with on_device_init, without which the weights would be on the device in 32 bits first.
constexpr std::array<std::string_view, 24> kStacksOfOneRank = {
    "",
    "fused",
    "fused optimizer_in_backward",
    "fused activation_checkpointing",
    "fused activation_checkpointing optimizer_in_backward",
    "optimizer_offload",
    "activation_checkpointing optimizer_offload",
    "fused activation_offload",
    "activation_checkpointing activation_offload optimizer_offload",
    "activation_checkpointing activation_offload optimizer_offload optimizer_in_backward",
    "mixed_precision fused",
    "mixed_precision fused optimizer_in_backward",
    "mixed_precision fused activation_checkpointing",
    "mixed_precision activation_checkpointing optimizer_offload",
    "mixed_precision activation_checkpointing activation_offload optimizer_offload",
    "bfloat16 on_device_init fused",
    "bfloat16 on_device_init fused optimizer_in_backward",
    "bfloat16 on_device_init fused activation_checkpointing",
    "bfloat16 on_device_init fused activation_checkpointing optimizer_in_backward",
    "bfloat16 on_device_init activation_checkpointing optimizer_offload",
    "bfloat16 on_device_init activation_checkpointing activation_offload optimizer_offload "
    "optimizer_in_backward",
    "sgd fused",
    "sgd fused activation_checkpointing",
    "bfloat16 on_device_init sgd fused activation_checkpointing optimizer_in_backward",
};

// Left out is tensor_parallel: its ranks share a batch, so that an update would see other samples.
// on_device_init: no rank need hold the whole model on its host.
constexpr std::array kNumerics = {"", "mixed_precision ", "bfloat16 "};
constexpr std::array kRecompute = {"", "activation_checkpointing "};
constexpr std::array kShardings = {"fused ddp", "fused zero_1", "fused zero_2", "fused fsdp"};
constexpr std::array kShardingsOnTheHost = {
    "activation_checkpointing zero_2 optimizer_offload",
    "activation_checkpointing fsdp cpu_offload",
    "activation_checkpointing activation_offload fsdp cpu_offload",
};

std::vector<std::string> stacks_of_ranks() {
  std::vector<std::string> stacks;
  for (const char* numerics : kNumerics) {
    const std::string start = std::string(numerics) + "on_device_init ";
    for (const char* recompute : kRecompute) {
      for (const char* sharding : kShardings) stacks.push_back(start + recompute + sharding);
    }
    for (const char* sharding : kShardingsOnTheHost) stacks.push_back(start + sharding);
  }
  return stacks;
}

void append_part(std::string& text, std::string_view more, std::string_view separator) {
  if (!text.empty() && !more.empty()) text += separator;
  text += more;
}

/// Adds what that name stands for; false: the catalog lacks it.
bool add(FitStack& stack, std::string_view name, const Catalog& catalog,
         const FitStackOptions& options) {
  if (name == kFused) {
    if (!options.may_fuse) return true;
    stack.is_fused = true;
    append_part(stack.name, name, "+");
    return true;
  }
  const TechniqueInfo* technique = catalog.find_technique(name);
  if (technique == nullptr) return false;
  Json given = Json::object();
  if (name == "mixed_precision") given["dtype"] = options.mixed_precision;
  stack.techniques.push_back(complete_technique(*technique, given));
  append_part(stack.name, name, "+");
  append_part(stack.changes, technique->changes, ", ");
  stack.cost += technique->fit_cost;
  return true;
}

/// The stack of those names; false: the catalog does not allow it.
bool make_stack(std::string_view names, const Catalog& catalog, const FitStackOptions& options,
                FitStack& stack) {
  while (!names.empty()) {
    const std::size_t space = std::min(names.find(' '), names.size());
    if (!add(stack, names.substr(0, space), catalog, options)) return false;
    names.remove_prefix(std::min(space + 1, names.size()));
  }
  if (stack.name.empty()) stack.name = "plain";
  Case one;
  one.techniques = stack.techniques;
  return !why_unsupported(one, catalog);
}

}  // namespace

std::vector<FitStack> fit_stacks(const Catalog& catalog, const FitStackOptions& options) {
  const std::vector<std::string> all =
      options.ranks > 1
          ? stacks_of_ranks()
          : std::vector<std::string>(kStacksOfOneRank.begin(), kStacksOfOneRank.end());
  std::vector<FitStack> stacks;
  for (const std::string& names : all) {
    FitStack stack;
    if (!make_stack(names, catalog, options, stack)) continue;
    // Without fused, what differs by it alone is the same.
    const bool is_new = std::none_of(stacks.begin(), stacks.end(), [&](const FitStack& other) {
      return other.name == stack.name;
    });
    if (is_new) stacks.push_back(std::move(stack));
  }
  std::stable_sort(stacks.begin(), stacks.end(),
                   [](const FitStack& a, const FitStack& b) { return a.cost < b.cost; });
  return stacks;
}

Json complete_technique(const TechniqueInfo& technique, const Json& given) {
  Json complete{{"name", technique.name}};
  complete.update(fill_defaults(given, technique.fields));
  return complete;
}

}  // namespace headroom
