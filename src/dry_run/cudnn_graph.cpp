// SPDX-License-Identifier: Apache-2.0
// cuDNN's backend interface: graphs of operations, engines that can run them, and plans. Where the
// program's own cuDNN can't be asked for its engines there are two: with tensor cores, and without
// for those who do not want fp32 rounded to TF32.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "src/dry_run/cudnn_engines.h"
#include "src/dry_run/cudnn_types.h"
#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

/// Of the rate of products, what its attention achieves; and of that, where it drops some of the
/// probabilities out, for which it makes random numbers.
constexpr double kAttentionForwardShare = 0.45;
constexpr double kAttentionBackwardShare = 0.33;
constexpr double kShareWithDropout = 0.6;
constexpr std::int64_t kProductsForward = 2;

GraphWork product_work(const GraphPart* a, const GraphPart* result) {
  const std::vector<std::int64_t> factor = sizes_of(a);
  const std::int64_t flops = factor.empty() ? 0 : 2 * elements(sizes_of(result)) * factor.back();
  return {.flops = flops, .filled = {flops, flops}, .type = data_type(a), .products = 1};
}

double attention_share(const GraphWork& work) {
  const double share =
      work.products > kProductsForward ? kAttentionBackwardShare : kAttentionForwardShare;
  return work.has_dropout ? share * kShareWithDropout : share;
}

Work work_of(const GraphWork& graph, bool has_tensor_cores) {
  const Gpu& gpu = dry_run().gpu;
  // Wide windows of 32 bits take as long where TF32 is allowed.
  const bool is_on_lanes = graph.instructions > 0 && graph.type == CUDNN_DATA_FLOAT;
  const bool tensor_cores = has_tensor_cores && !is_on_lanes;
  const Precision precision = cudnn_precision(graph.type, tensor_cores);
  const std::int64_t flops = tensor_cores ? graph.filled.tensor_cores : graph.filled.lanes;
  Work work = graph.products > 1 ? attention_work(gpu, graph.is_causal ? flops / 2 : flops,
                                                  precision, attention_share(graph))
                                 : product_work(gpu, {.flops = flops,
                                                      .precision = precision,
                                                      .bytes = graph.bytes,
                                                      .is_convolution = graph.is_convolution});
  if (!tensor_cores && graph.instructions > 0) {
    work = side_by_side(work, thread_work(gpu, graph.instructions));
  }
  work.product_flops = graph.flops;
  return work;
}

GraphWork operation_work(const GraphPart& operation) {
  if (const auto work = convolution_work(operation)) return *work;
  switch (operation.type) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return product_work(operation.part(CUDNN_ATTR_OPERATION_MATMUL_ADESC),
                          operation.part(CUDNN_ATTR_OPERATION_MATMUL_CDESC));
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
      return attention_work(operation.part(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC),
                            operation.part(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC), /*products=*/2);
    case CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR:
      return attention_work(operation.part(CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC),
                            operation.part(CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC), /*products=*/5);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return {};
    default: {
      const std::string name =
          "cudnnBackendExecute of descriptor " + std::to_string(operation.type);
      not_modelled(name.c_str());
    }
  }
}

/// Attention in parts: a mask of what comes later is made of the places of its elements.
bool makes_places(const GraphPart& operation) {
  if (operation.type != CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) return false;
  const GraphPart* pointwise = operation.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  if (pointwise == nullptr) return false;
  const auto found = pointwise->attributes.find(CUDNN_ATTR_POINTWISE_MODE);
  if (found == pointwise->attributes.end()) return false;
  cudnnPointwiseMode_t mode{};
  std::memcpy(&mode, found->second.values.data(), sizeof(mode));
  return mode == CUDNN_POINTWISE_GEN_INDEX;
}

using SharedPart = std::shared_ptr<GraphPart>;

SharedPart& part_of(cudnnBackendDescriptor_t handle) { return *static_cast<SharedPart*>(handle); }

std::size_t value_size(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
      return 8;
    case CUDNN_TYPE_FRACTION:
      return sizeof(cudnnFraction_t);
    default:  // floats, 32-bit integers and enumerations
      return 4;
  }
}

template <class Value>
void set(GraphPart& part, cudnnBackendAttributeName_t name, const std::vector<Value>& values) {
  auto& attribute = part.attributes[name];
  attribute.count = static_cast<std::int64_t>(values.size());
  attribute.values.resize(values.size() * sizeof(Value));
  if (!values.empty()) {
    std::memcpy(attribute.values.data(), values.data(), attribute.values.size());
  }
}

void set(GraphPart& part, cudnnBackendAttributeName_t name, SharedPart value) {
  part.attributes[name] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {std::move(value)}};
}

SharedPart engine_config(const SharedPart& graph, const CudnnEngine& described, int rank) {
  auto engine = std::make_shared<GraphPart>(GraphPart{CUDNN_BACKEND_ENGINE_DESCRIPTOR, {}});
  set(*engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  set(*engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, std::vector{described.index});
  set(*engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, described.numerical_notes);
  set(*engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, described.behavior_notes);
  auto config = std::make_shared<GraphPart>(GraphPart{CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, {}});
  set(*config, CUDNN_ATTR_ENGINECFG_ENGINE, std::move(engine));
  if (described.workspace_bytes) {
    set(*config, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, std::vector{*described.workspace_bytes});
  }
  config->rank = rank;
  return config;
}

/// What the heuristics give, best first.
std::vector<SharedPart> engine_configs(const GraphPart& heuristics) {
  const SharedPart graph = heuristics.shared_part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  if (graph == nullptr) return {};
  std::vector<SharedPart> configs;
  for (const CudnnEngine& engine : engines_for(heuristics)) {
    configs.push_back(engine_config(graph, engine, static_cast<int>(configs.size())));
  }
  return configs;
}

/// The engine's configuration that a plan runs; null: none was set.
const GraphPart* config_of(const GraphPart& part) {
  return part.type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR
             ? &part
             : part.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
}

/// Likewise its engine, and what that computes.
const GraphPart* engine_of(const GraphPart& part) {
  const GraphPart* config = config_of(part);
  return config == nullptr ? nullptr : config->part(CUDNN_ATTR_ENGINECFG_ENGINE);
}
const GraphPart* graph_of(const GraphPart& part) {
  const GraphPart* engine = engine_of(part);
  return engine == nullptr ? nullptr : engine->part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
}

bool has_tensor_cores(const GraphPart& engine) {
  const auto found = engine.attributes.find(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
  if (found == engine.attributes.end()) return false;
  std::vector<cudnnBackendNumericalNote_t> notes(static_cast<std::size_t>(found->second.count));
  std::memcpy(notes.data(), found->second.values.data(), found->second.values.size());
  return std::find(notes.begin(), notes.end(), CUDNN_NUMERICAL_NOTE_TENSOR_CORE) != notes.end();
}

bool is_attention(const GraphPart& graph) { return graph_work(graph).products > 1; }

/// cuDNN compiles a kernel for each plan of attention, so for each shape of a batch: programs whose
/// batches differ in length wait for it in every step (docs/time.md).
void wait_for_kernel(const GraphPart& plan) {
  constexpr std::int64_t kOnHopperNs = 78'000'000;
  constexpr std::int64_t kOnBlackwellNs = 500'000'000;
  const GraphPart* graph = graph_of(plan);
  if (graph == nullptr || !is_attention(*graph)) return;
  const bool is_blackwell = dry_run().gpu.capability.major >= 10;
  dry_run().timeline.keep_host_busy(is_blackwell ? kOnBlackwellNs : kOnHopperNs);
  ++device_with_context().counters.attention_kernels;
}

/// What a plan works in: what cuDNN says of it, or what attention does, or the copies of its
/// convolution, where the settings want them.
std::int64_t workspace_of(const GraphPart& plan) {
  const GraphPart* config = config_of(plan);
  if (config == nullptr) return 0;
  const std::vector<std::int64_t> known = config->numbers(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE);
  if (!known.empty()) return known.front();
  note_estimated(kEnginesOfCudnn);
  const GraphPart* graph = graph_of(plan);
  if (graph == nullptr || !has_tensor_cores(*engine_of(plan))) return 0;
  if (is_attention(*graph)) return attention_bytes(*graph);
  std::int64_t copied = 0;
  std::int64_t wanted = 0;
  for (const auto& operation : operations_of(*graph)) {
    const LayoutCopies copies = layout_copies(*operation);
    const CopiesOf copying = copies.of_forward ? CopiesOf::forward : CopiesOf::backward;
    copied += copies.bytes;
    if (settings().layout_copies == copying) wanted += copies.bytes;
  }
  note_layout_copies(copied);
  return wanted;
}

/// What a finished part knows of itself, where the program did not set it.
std::optional<std::int64_t> known_value(const GraphPart& part, cudnnBackendAttributeName_t name) {
  switch (name) {
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
      return workspace_of(part);
    case CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED:  // fits any device
      return 0;
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
      return 2;
    default:
      return std::nullopt;
  }
}

GraphPart::Attribute read(const GraphPart& part, cudnnBackendAttributeName_t name) {
  if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
    std::vector<SharedPart> configs = engine_configs(part);
    const auto count = static_cast<std::int64_t>(configs.size());
    return {CUDNN_TYPE_BACKEND_DESCRIPTOR, count, {}, std::move(configs)};
  }
  const auto found = part.attributes.find(name);
  if (found != part.attributes.end()) return found->second;
  GraphPart none{};
  if (const auto value = known_value(part, name)) set(none, name, std::vector{*value});
  return none.attributes[name];
}

}  // namespace

std::vector<SharedPart> operations_of(const GraphPart& graph) {
  const auto found = graph.attributes.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  return found == graph.attributes.end() ? std::vector<SharedPart>{} : found->second.parts;
}

std::vector<std::int64_t> sizes_of(const GraphPart* tensor) {
  return tensor == nullptr ? std::vector<std::int64_t>{}
                           : tensor->numbers(CUDNN_ATTR_TENSOR_DIMENSIONS);
}

cudnnDataType_t data_type(const GraphPart* tensor) {
  auto type = CUDNN_DATA_FLOAT;
  if (tensor == nullptr) return type;
  const auto found = tensor->attributes.find(CUDNN_ATTR_TENSOR_DATA_TYPE);
  if (found != tensor->attributes.end()) {
    std::memcpy(&type, found->second.values.data(), sizeof(type));
  }
  return type;
}

std::shared_ptr<GraphPart> GraphPart::shared_part(cudnnBackendAttributeName_t name) const {
  const auto found = attributes.find(name);
  if (found == attributes.end() || found->second.parts.empty()) return nullptr;
  return found->second.parts.front();
}

const GraphPart* GraphPart::part(cudnnBackendAttributeName_t name) const {
  return shared_part(name).get();  // this part holds it
}

std::vector<std::int64_t> GraphPart::numbers(cudnnBackendAttributeName_t name) const {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return {};
  std::vector<std::int64_t> result(found->second.values.size() / sizeof(std::int64_t));
  std::memcpy(result.data(), found->second.values.data(), result.size() * sizeof(std::int64_t));
  return result;
}

GraphWork graph_work(const GraphPart& graph) {
  GraphWork sum;
  for (const auto& operation : operations_of(graph)) {
    sum.has_dropout |= operation->type == CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR;
    sum.is_causal |= makes_places(*operation);
    const GraphWork work = operation_work(*operation);
    if (work.flops > 0 && sum.flops == 0) sum.type = work.type;  // those behind it are made here
    sum.flops += work.flops;
    sum.filled.lanes += work.filled.lanes;
    sum.filled.tensor_cores += work.filled.tensor_cores;
    sum.bytes += work.bytes;
    sum.instructions += work.instructions;
    sum.is_convolution |= work.is_convolution;
    sum.works_in_place |= work.works_in_place;
    sum.products += work.products;
  }
  return sum;
}

HEADROOM_ENTRY cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                                          cudnnBackendDescriptor_t* handle) {
  *handle = new SharedPart(std::make_shared<GraphPart>(GraphPart{type, {}}));
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t handle) {
  delete static_cast<SharedPart*>(handle);
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle) {
  const GraphPart& part = *part_of(handle);
  if (part.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) wait_for_kernel(part);
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle,
                                                      cudnnBackendAttributeName_t name,
                                                      cudnnBackendAttributeType_t type,
                                                      std::int64_t count, const void* values) {
  auto& attribute = part_of(handle)->attributes[name];
  attribute = {type, count, {}, {}};
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    const auto* handles = static_cast<const cudnnBackendDescriptor_t*>(values);
    for (std::int64_t i = 0; i < count; ++i) attribute.parts.push_back(part_of(handles[i]));
    return CUDNN_STATUS_SUCCESS;
  }
  const auto* bytes = static_cast<const std::byte*>(values);
  attribute.values.assign(bytes, bytes + static_cast<std::size_t>(count) * value_size(type));
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t handle,
                                                      cudnnBackendAttributeName_t name,
                                                      cudnnBackendAttributeType_t type,
                                                      std::int64_t asked, std::int64_t* count,
                                                      void* values) {
  GraphPart::Attribute attribute = read(*part_of(handle), name);
  // Heuristics look for no more than they are asked for.
  if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS && values != nullptr) {
    attribute.count = std::min(asked, attribute.count);
  }
  if (count != nullptr) *count = attribute.count;
  const std::int64_t given = std::min(asked, attribute.count);
  if (values == nullptr || given == 0) return CUDNN_STATUS_SUCCESS;
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {  // into descriptors of the caller
    auto* handles = static_cast<cudnnBackendDescriptor_t*>(values);
    for (std::int64_t i = 0; i < given; ++i) {
      part_of(handles[i]) = attribute.parts[static_cast<std::size_t>(i)];
    }
    return CUDNN_STATUS_SUCCESS;
  }
  const std::size_t size = static_cast<std::size_t>(given) * value_size(type);
  std::memcpy(values, attribute.values.data(), std::min(size, attribute.values.size()));
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                                 cudnnBackendDescriptor_t plan,
                                                 cudnnBackendDescriptor_t) {
  const GraphPart* config = config_of(*part_of(plan));
  const GraphPart* graph = graph_of(*part_of(plan));
  if (graph == nullptr) return CUDNN_STATUS_BAD_PARAM;
  const std::int64_t workspace = workspace_of(*config);
  note_engine(config->rank, workspace);
  if (config->rank > 0) note_estimated(kTriedEnginesOfCudnn);
  const GraphWork work = graph_work(*graph);
  Work all = work_of(work, has_tensor_cores(*engine_of(*part_of(plan))));
  // What an engine works in is written, and read again.
  if (workspace > 0 && !work.works_in_place) all += device_copy_work(dry_run().gpu, workspace);
  // cuDNN ranks engines by the times that it expects, which are nearer to a GPU's than these: where
  // a program tries several, another than the first is kept where it should take less than half.
  // cudnn-frontend tries a plan by running it twice (cudnn_frontend_find_plan.h).
  constexpr int kLessThan = 2;
  constexpr int kTrials = 2;
  const bool is_tried = ++part_of(plan)->executions <= kTrials;
  if (config->rank > 0 && settings().trusts_ranks && is_tried) {
    for (std::int64_t& ns : all.ns) ns *= kLessThan;
  }
  run_work(handle->stream, all);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace headroom::dry_run
