// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/cudnn_engines.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "src/dry_run/cudnn_depthwise.h"
#include "src/dry_run/cudnn_library.h"
#include "src/dry_run/cudnn_partial_sums.h"
#include "src/dry_run/cudnn_products.h"
#include "src/dry_run/cudnn_transforms.h"
#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

struct Destroy {
  void operator()(cudnnBackendDescriptor_t handle) const { cudnn_library()->destroy(handle); }
};
using Descriptor = std::unique_ptr<std::remove_pointer_t<cudnnBackendDescriptor_t>, Destroy>;

/// Null: cuDNN has no such thing.
Descriptor make(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t handle = nullptr;
  cudnn_library()->create(type, &handle);
  return Descriptor(handle);
}

bool set_part(const Descriptor& descriptor, cudnnBackendAttributeName_t name,
              cudnnBackendDescriptor_t value) {
  return cudnn_library()->set(descriptor.get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value) ==
         CUDNN_STATUS_SUCCESS;
}

bool finish(const Descriptor& descriptor) {
  return cudnn_library()->finalize(descriptor.get()) == CUDNN_STATUS_SUCCESS;
}

/// cuDNN's own descriptors of what the program described to the dry run.
class Copies {
 public:
  /// Null: cuDNN refused it. Handles belong to a device and are left out.
  cudnnBackendDescriptor_t of(const GraphPart& part) {
    const auto found = made_.find(&part);
    if (found != made_.end()) return found->second.get();
    Descriptor copy = make(part.type);
    if (copy == nullptr) return nullptr;
    for (const auto& [name, attribute] : part.attributes) {
      if (attribute.type != CUDNN_TYPE_HANDLE && !copy_attribute(copy, name, attribute)) {
        return nullptr;
      }
    }
    if (part.type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR &&
        !set_part(copy, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, cudnn_library()->device)) {
      return nullptr;
    }
    if (!finish(copy)) return nullptr;
    return made_.emplace(&part, std::move(copy)).first->second.get();
  }

 private:
  bool copy_attribute(const Descriptor& copy, cudnnBackendAttributeName_t name,
                      const GraphPart::Attribute& attribute) {
    std::vector<cudnnBackendDescriptor_t> parts;
    for (const auto& part : attribute.parts) parts.push_back(of(*part));
    const void* values = parts.empty() ? static_cast<const void*>(attribute.values.data())
                                       : static_cast<const void*>(parts.data());
    return cudnn_library()->set(copy.get(), name, attribute.type, attribute.count, values) ==
           CUDNN_STATUS_SUCCESS;
  }

  std::map<const GraphPart*, Descriptor> made_;
};

/// The notes on an engine, of which there are fewer than `most`.
template <class Note>
std::vector<Note> notes(const Descriptor& engine, cudnnBackendAttributeName_t name,
                        cudnnBackendAttributeType_t type, std::int64_t most) {
  std::vector<Note> values(static_cast<std::size_t>(most));
  std::int64_t count = 0;
  cudnn_library()->get(engine.get(), name, type, most, &count, values.data());
  values.resize(static_cast<std::size_t>(std::min(count, most)));
  return values;
}

/// Nothing: it was not given.
std::optional<std::int64_t> number(const Descriptor& descriptor, cudnnBackendAttributeName_t name) {
  std::int64_t value = 0;
  std::int64_t count = 0;
  const bool is_given = cudnn_library()->get(descriptor.get(), name, CUDNN_TYPE_INT64, 1, &count,
                                             &value) == CUDNN_STATUS_SUCCESS;
  return is_given && count == 1 ? std::optional(value) : std::nullopt;
}

KnobValues knobs_of(const Descriptor& config) {
  std::vector<Descriptor> choices;
  std::vector<cudnnBackendDescriptor_t> into;
  for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; ++i) {
    choices.push_back(make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR));
    into.push_back(choices.back().get());
  }
  std::int64_t count = 0;
  cudnn_library()->get(config.get(), CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                       CUDNN_TYPE_BACKEND_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS, &count, into.data());
  choices.resize(
      static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, CUDNN_KNOB_TYPE_COUNTS)));
  KnobValues values;
  for (const Descriptor& choice : choices) {
    cudnnBackendKnobType_t type{};
    cudnn_library()->get(choice.get(), CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1,
                         &count, &type);
    values[type] = number(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE).value_or(-1);
  }
  return values;
}

/// Nothing: cuDNN would not run it.
std::optional<CudnnEngine> describe(const Descriptor& config,
                                    const std::optional<Convolution>& convolution) {
  const Descriptor plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  const Descriptor engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t into = engine.get();
  std::int64_t count = 0;
  cudnn_library()->get(config.get(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                       &count, &into);
  if (!set_part(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config.get()) ||
      !set_part(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, cudnn_library()->device) ||
      !finish(plan)) {
    return std::nullopt;
  }
  const auto workspace = number(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  const auto index = number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  if (!workspace || !index) return std::nullopt;
  const std::int64_t missing = convolution ? missing_partial_sums(*convolution, knobs_of(config),
                                                                  dry_run().gpu.multiprocessors)
                                           : 0;
  return CudnnEngine{.index = *index,
                     .workspace_bytes = *workspace + missing,
                     .numerical_notes = notes<cudnnBackendNumericalNote_t>(
                         engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                         CUDNN_NUMERICAL_NOTE_TYPE_COUNT),
                     .behavior_notes = notes<cudnnBackendBehaviorNote_t>(
                         engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                         CUDNN_BEHAVIOR_NOTE_TYPE_COUNT)};
}

/// What it finds for them; none: it can't be asked.
std::vector<Descriptor> configs_of(Copies& copies, const GraphPart& heuristics) {
  const CudnnLibrary* cudnn = settings().layout_copies ? nullptr : cudnn_library();
  if (cudnn == nullptr) return {};
  const cudnnBackendDescriptor_t asked = copies.of(heuristics);
  std::int64_t count = 0;
  constexpr auto kName = CUDNN_ATTR_ENGINEHEUR_RESULTS;
  if (asked == nullptr || cudnn->get(asked, kName, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count,
                                     nullptr) != CUDNN_STATUS_SUCCESS) {
    return {};
  }
  std::vector<Descriptor> configs;
  std::vector<cudnnBackendDescriptor_t> into;
  for (std::int64_t i = 0; i < count; ++i) {
    configs.push_back(make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    into.push_back(configs.back().get());
  }
  cudnn->get(asked, kName, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, into.data());
  configs.resize(static_cast<std::size_t>(count));  // it counts more than it gives
  return configs;
}

/// What the graph consists of, where that is one convolution.
std::optional<Convolution> only_convolution(const GraphPart& heuristics) {
  const GraphPart* graph = heuristics.part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  if (graph == nullptr) return std::nullopt;
  const auto operations = operations_of(*graph);
  return operations.size() == 1 ? convolution_of(*operations.front()) : std::nullopt;
}

/// Engines that are not ranked: they run what no other does.
bool is_fallback(const GraphPart& heuristics) {
  const auto found = heuristics.attributes.find(CUDNN_ATTR_ENGINEHEUR_MODE);
  if (found == heuristics.attributes.end()) return false;
  cudnnBackendHeurMode_t mode{};
  std::memcpy(&mode, found->second.values.data(), sizeof(mode));
  return mode == CUDNN_HEUR_MODE_FALLBACK;
}

constexpr std::int64_t kUnlisted = -1;  // the number of an engine that is not known without a GPU

void add_product(std::vector<CudnnEngine>& engines, const Convolution& convolution) {
  const auto product = product_engine(convolution);
  if (!product) return;
  engines.insert(product->is_first ? engines.begin() : engines.end(),
                 {.index = kUnlisted,
                  .workspace_bytes = product->workspace_bytes,
                  .numerical_notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}});
}

void add_transforms(std::vector<CudnnEngine>& engines, const Convolution& convolution) {
  if (const auto bytes = fourier_workspace(convolution)) {
    engines.push_back({.index = kUnlisted,
                       .workspace_bytes = bytes,
                       .numerical_notes = {CUDNN_NUMERICAL_NOTE_FFT}});
  }
  if (const auto bytes = winograd_workspace(convolution)) {
    engines.push_back({.index = kUnlisted,
                       .workspace_bytes = bytes,
                       .numerical_notes = {CUDNN_NUMERICAL_NOTE_WINOGRAD}});
  }
}

/// To what cuDNN ranks without a GPU, what it ranks with one. What it compiles was seen on Hopper
/// alone.
void add_unlisted(std::vector<CudnnEngine>& engines, const Convolution& convolution) {
  constexpr int kHopper = 9;
  add_product(engines, convolution);
  add_transforms(engines, convolution);
  if (dry_run().gpu.capability.major == kHopper && is_compiled_first(convolution)) {
    engines.insert(engines.begin(), {.index = kUnlisted,
                                     .workspace_bytes = compiled_workspace(convolution),
                                     .behavior_notes = {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION}});
  }
}

}  // namespace

std::vector<CudnnEngine> engines_for(const GraphPart& heuristics) {
  const std::optional<Convolution> convolution = only_convolution(heuristics);
  Copies copies;
  std::vector<CudnnEngine> engines;
  for (const Descriptor& config : configs_of(copies, heuristics)) {
    if (auto engine = describe(config, convolution)) engines.push_back(std::move(*engine));
  }
  if (engines.empty()) {
    return {{.index = 0, .numerical_notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}}, {.index = 1}};
  }
  if (convolution && !is_fallback(heuristics)) add_unlisted(engines, *convolution);
  return engines;
}

}  // namespace headroom::dry_run
