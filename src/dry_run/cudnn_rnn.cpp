// SPDX-License-Identifier: Apache-2.0
// cuDNN's recurrent networks. What a program can see of their weights is exact; the memory that
// they take for themselves is as cuDNN told it of others: recurrent_network.h.
#include <algorithm>

#include "src/dry_run/cudnn_types.h"
#include "src/dry_run/dry_run.h"
#include "src/dry_run/recurrent_network.h"

struct cudnnDropoutStruct {
  float probability = 0;
};

struct cudnnRNNStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  headroom::dry_run::RecurrentNetwork network;
};

struct cudnnRNNDataStruct {
  headroom::dry_run::Sequences sequences;
};

namespace headroom::dry_run {
namespace {

RecurrentNetwork::Cell cell_of(cudnnRNNMode_t mode) {
  switch (mode) {
    case CUDNN_LSTM:
      return RecurrentNetwork::Cell::lstm;
    case CUDNN_GRU:
      return RecurrentNetwork::Cell::gru;
    default:
      return RecurrentNetwork::Cell::plain;
  }
}

/// cuDNN has the algorithm for these types, and takes its usual one for bfloat16.
bool runs_in_registers(cudnnRNNAlgo_t algorithm, cudnnDataType_t type) {
  return algorithm == CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H &&
         (type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF);
}

/// Where a matrix or a bias lies in the weights: all matrices, then all biases. cuDNN gives each as
/// a tensor of three dimensions.
struct Place {
  std::int64_t offset;  // in numbers
  std::vector<std::int64_t> sizes;
};

Place matrix_place(const RecurrentNetwork& network, std::int64_t pseudo_layer,
                   std::int64_t linear) {
  const std::int64_t hidden = network.hidden;
  const std::int64_t input = input_of(network, pseudo_layer);
  const std::int64_t begin = matrices_before(network, pseudo_layer);
  const std::int64_t before = std::min(linear, gates(network));  // those of the input come first
  const std::int64_t offset =
      begin + hidden * (before * input + (linear - before) * network.output);
  if (linear == 2 * gates(network)) return {offset, {1, network.output, hidden}};
  return {offset, {1, hidden, linear < gates(network) ? input : network.output}};
}

Place bias_place(const RecurrentNetwork& network, std::int64_t pseudo_layer, std::int64_t linear) {
  const std::int64_t offset =
      matrices(network) + pseudo_layer * biases_of_layer(network) + linear * network.hidden;
  return {offset, {1, network.hidden, 1}};
}

Work product_of(const cudnnRNNStruct& rnn, std::int64_t rows, std::int64_t numbers) {
  const bool tensor_cores = rnn.math != CUDNN_FMA_MATH;
  return product_work(dry_run().gpu, {.flops = 2 * rows * numbers,
                                      .precision = cudnn_precision(rnn.type, tensor_cores),
                                      .bytes = numbers * rnn.network.number_bytes});
}

/// One product for all time steps: each number of a matrix is multiplied once a row.
cudnnStatus_t run_at_once(cudnnHandle_t handle, const cudnnRNNStruct& rnn,
                          const cudnnRNNDataStruct& data) {
  run_work(handle->stream, product_of(rnn, data.sequences.rows, matrices(rnn.network)));
  return CUDNN_STATUS_SUCCESS;
}

/// How long a pass takes for a time step of a layer (docs/time_rates.md): beside what it multiplies
/// and moves, as its kernels wait for each other; in registers, as a multiple of forward.
struct Pass {
  std::int64_t step_ns;
  std::int64_t in_registers;
};
constexpr Pass kForwardPass = {8000, 1};
constexpr Pass kBackwardPass = {12'000, 2};
/// In registers a multiprocessor multiplies by a layer's matrix for as many samples at a time, and
/// for so many times as many one after the other; of more samples others have their part. It reads
/// the matrix anew in each step where its registers can't hold it.
constexpr std::int64_t kStepInRegistersNs = 400;
constexpr double kSamplesAtOnce = 8;
constexpr double kMostTimes = 8;
constexpr double kHeldBytesPerSecond = 250e9;
constexpr double kReadBytesPerSecond = 60e9;

std::int64_t step_in_registers_ns(std::int64_t numbers, std::int64_t samples, const Pass& pass) {
  const std::int64_t bytes = numbers * static_cast<std::int64_t>(sizeof(float));
  const auto registers = static_cast<std::int64_t>(sizeof(float)) *
                         dry_run().gpu.capability.registers_per_multiprocessor;
  const double rate = bytes <= registers ? kHeldBytesPerSecond : kReadBytesPerSecond;
  const double times = std::clamp(static_cast<double>(samples) / kSamplesAtOnce, 1.0, kMostTimes);
  const double matrix_ns = times * static_cast<double>(bytes) * 1e9 / rate;
  return pass.in_registers * (kStepInRegistersNs + static_cast<std::int64_t>(matrix_ns));
}

/// The numbers of the matrix, or the gates' matrices, that a layer's last output is multiplied by.
std::int64_t step_numbers(const RecurrentNetwork& network) {
  return gates(network) * network.hidden * network.output;
}

Work in_registers_work(const cudnnRNNStruct& rnn, const Sequences& sequences, const Pass& pass) {
  Work all = product_of(rnn, sequences.rows, matrices(rnn.network));
  all.ns[static_cast<std::size_t>(WorkKind::product)] +=
      pseudo_layers(rnn.network) * sequences.steps *
      step_in_registers_ns(step_numbers(rnn.network), sequences.samples, pass);
  return all;
}

Work step_work(const cudnnRNNStruct& rnn, const Sequences& sequences, const Pass& pass) {
  const Gpu& gpu = dry_run().gpu;
  const std::int64_t cells = gates(rnn.network) * rnn.network.hidden * sequences.samples;
  Work step = product_of(rnn, sequences.rows / sequences.steps, step_numbers(rnn.network));
  step += memory_work(gpu, {2 * cells * rnn.network.number_bytes});
  const std::int64_t begin_ns = product_work(gpu, {}).all_ns() + memory_work(gpu, {}).all_ns();
  step.ns[static_cast<std::size_t>(WorkKind::product)] +=
      std::max<std::int64_t>(0, pass.step_ns - begin_ns);
  return step;
}

/// The layers' inputs are multiplied for all time steps at once. What the step before gave is
/// multiplied step by step, in each layer, with a kernel for the cell behind it.
Work by_steps_work(const cudnnRNNStruct& rnn, const Sequences& sequences, const Pass& pass) {
  const std::int64_t layers = pseudo_layers(rnn.network);
  Work all =
      product_of(rnn, sequences.rows, matrices(rnn.network) - layers * step_numbers(rnn.network));
  const Work step = step_work(rnn, sequences, pass);
  for (std::int64_t i = 0; i < layers * sequences.steps; ++i) all += step;
  return all;
}

cudnnStatus_t run_pass(cudnnHandle_t handle, const cudnnRNNStruct& rnn,
                       const cudnnRNNDataStruct& data, const Pass& pass) {
  if (data.sequences.steps == 0) return run_at_once(handle, rnn, data);
  const auto work_of = rnn.network.in_registers ? in_registers_work : by_steps_work;
  run_work(handle->stream, work_of(rnn, data.sequences, pass));
  return CUDNN_STATUS_SUCCESS;
}

void give_place(const cudnnRNNStruct& rnn, const Place& place, const void* weight_space,
                cudnnTensorDescriptor_t tensor, void** address) {
  if (tensor != nullptr) *tensor = {rnn.type, place.sizes};
  if (address == nullptr) return;
  auto* begin = static_cast<char*>(const_cast<void*>(weight_space));
  *address = begin + place.offset * rnn.network.number_bytes;
}

}  // namespace

HEADROOM_ENTRY cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* dropout) {
  *dropout = new cudnnDropoutStruct;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t dropout) {
  delete dropout;
  return CUDNN_STATUS_SUCCESS;
}

/// The generators of 1,024 threads of each multiprocessor, 48 bytes each, as cuRAND's header has
/// them: of an H100 the allocated peaks of trainings say just as much. Estimated elsewhere.
HEADROOM_ENTRY cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t, std::size_t* size) {
  constexpr std::size_t kThreads = 1024;
  constexpr std::size_t kGeneratorBytes = 48;
  *size = static_cast<std::size_t>(dry_run().gpu.multiprocessors) * kThreads * kGeneratorBytes;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropout,
                                                       cudnnHandle_t, float probability, void*,
                                                       std::size_t, unsigned long long) {
  dropout->probability = probability;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t dropout,
                                                           cudnnHandle_t handle, float probability,
                                                           void* states, std::size_t size,
                                                           unsigned long long seed) {
  return cudnnSetDropoutDescriptor(dropout, handle, probability, states, size, seed);
}

HEADROOM_ENTRY cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* rnn) {
  *rnn = new cudnnRNNStruct;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t rnn) {
  delete rnn;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetRNNDescriptor_v8(
    cudnnRNNDescriptor_t rnn, cudnnRNNAlgo_t algorithm, cudnnRNNMode_t mode,
    cudnnRNNBiasMode_t bias, cudnnDirectionMode_t direction, cudnnRNNInputMode_t,
    cudnnDataType_t type, cudnnDataType_t, cudnnMathType_t math, std::int32_t input,
    std::int32_t hidden, std::int32_t projection, std::int32_t layers,
    cudnnDropoutDescriptor_t dropout, std::uint32_t) {
  *rnn = {.type = type,
          .math = math,
          .network = {.cell = cell_of(mode),
                      .number_bytes = bytes_of({type, {1}}),
                      .has_bias = bias != CUDNN_RNN_NO_BIAS,
                      .has_dropout = dropout != nullptr && dropout->probability > 0,
                      .in_registers = runs_in_registers(algorithm, type),
                      .directions = direction == CUDNN_BIDIRECTIONAL ? 2 : 1,
                      .layers = layers,
                      .input = input,
                      .hidden = hidden,
                      .output = projection}};
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* data) {
  *data = new cudnnRNNDataStruct;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t data) {
  delete data;
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t data,
                                                       cudnnDataType_t, cudnnRNNDataLayout_t layout,
                                                       int, int samples, int, const int lengths[],
                                                       void*) {
  Sequences& sequences = data->sequences;
  sequences = {.samples = samples, .packed = layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED};
  for (int i = 0; i < samples; ++i) {
    sequences.rows += lengths[i];
    sequences.steps = std::max<std::int64_t>(sequences.steps, lengths[i]);
    sequences.rows_at_once += std::min<std::int64_t>(lengths[i], kStepsAtOnce);
  }
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t rnn,
                                                        std::size_t* size) {
  *size = static_cast<std::size_t>(weights(rnn->network) * rnn->network.number_bytes);
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetRNNWeightParams(
    cudnnHandle_t, cudnnRNNDescriptor_t rnn, std::int32_t pseudo_layer, std::size_t,
    const void* weight_space, std::int32_t linear, cudnnTensorDescriptor_t matrix,
    void** matrix_address, cudnnTensorDescriptor_t bias, void** bias_address) {
  give_place(*rnn, matrix_place(rnn->network, pseudo_layer, linear), weight_space, matrix,
             matrix_address);
  if (rnn->network.has_bias) {
    give_place(*rnn, bias_place(rnn->network, pseudo_layer, linear), weight_space, bias,
               bias_address);
  }
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t rnn,
                                                       cudnnForwardMode_t mode,
                                                       cudnnRNNDataDescriptor_t data,
                                                       std::size_t* working, std::size_t* kept) {
  note_estimated("recurrent networks of cuDNN");
  const bool is_training = mode == CUDNN_FWD_MODE_TRAINING;
  if (working != nullptr) {
    *working = static_cast<std::size_t>(working_bytes(rnn->network, data->sequences, is_training));
  }
  if (kept != nullptr) {
    *kept =
        is_training ? static_cast<std::size_t>(kept_bytes(rnn->network, data->sequences.rows)) : 0;
  }
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnRNNForward(
    cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t, const std::int32_t[],
    cudnnRNNDataDescriptor_t x, const void*, cudnnRNNDataDescriptor_t, void*,
    cudnnTensorDescriptor_t, const void*, void*, cudnnTensorDescriptor_t, const void*, void*,
    std::size_t, const void*, std::size_t, void*, std::size_t, void*) {
  return run_pass(handle, *rnn, *x, kForwardPass);
}

HEADROOM_ENTRY cudnnStatus_t cudnnRNNBackwardData_v8(
    cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, const std::int32_t[], cudnnRNNDataDescriptor_t,
    const void*, const void*, cudnnRNNDataDescriptor_t x, void*, cudnnTensorDescriptor_t,
    const void*, const void*, void*, cudnnTensorDescriptor_t, const void*, const void*, void*,
    std::size_t, const void*, std::size_t, void*, std::size_t, void*) {
  return run_pass(handle, *rnn, *x, kBackwardPass);
}

HEADROOM_ENTRY cudnnStatus_t cudnnRNNBackwardWeights_v8(
    cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnWgradMode_t, const std::int32_t[],
    cudnnRNNDataDescriptor_t x, const void*, cudnnTensorDescriptor_t, const void*,
    cudnnRNNDataDescriptor_t, const void*, std::size_t, void*, std::size_t, void*, std::size_t,
    void*) {
  return run_at_once(handle, *rnn, *x);
}

}  // namespace headroom::dry_run
