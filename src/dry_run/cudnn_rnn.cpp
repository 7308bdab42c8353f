// SPDX-License-Identifier: Apache-2.0
// cuDNN's recurrent networks. What a program can see of their weights is exact; the memory that
// they take for themselves only cuDNN knows: see temporary_bytes().
#include <algorithm>
#include <numeric>

#include "src/dry_run/cudnn_types.h"
#include "src/dry_run/dry_run.h"

struct cudnnDropoutStruct {
  float probability = 0;
};

struct cudnnRNNStruct {
  cudnnRNNMode_t mode = CUDNN_LSTM;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  bool has_bias = true;
  bool has_dropout = false;
  std::int64_t directions = 1;
  std::int64_t layers = 1;
  std::int64_t input = 0;
  std::int64_t hidden = 0;
  std::int64_t output = 0;  // of a direction: the projection's, or `hidden`
};

struct cudnnRNNDataStruct {
  std::int64_t samples = 0;
  std::int64_t rows = 0;  // time steps of all samples
};

namespace headroom::dry_run {
namespace {

/// The products with the layer's input, and as many with its last output.
std::int64_t gates(const cudnnRNNStruct& rnn) {
  return rnn.mode == CUDNN_LSTM ? 4 : rnn.mode == CUDNN_GRU ? 3 : 1;
}

/// cuDNN counts a direction of a layer as a layer.
std::int64_t pseudo_layers(const cudnnRNNStruct& rnn) { return rnn.layers * rnn.directions; }

std::int64_t input_of(const cudnnRNNStruct& rnn, std::int64_t pseudo_layer) {
  return pseudo_layer < rnn.directions ? rnn.input : rnn.output * rnn.directions;
}

bool is_projected(const cudnnRNNStruct& rnn) { return rnn.output != rnn.hidden; }

/// The numbers in the matrices of a layer.
std::int64_t matrices(const cudnnRNNStruct& rnn, std::int64_t pseudo_layer) {
  const std::int64_t projection = is_projected(rnn) ? rnn.hidden * rnn.output : 0;
  return gates(rnn) * rnn.hidden * (input_of(rnn, pseudo_layer) + rnn.output) + projection;
}

/// The numbers in the matrices of the layers before this one.
std::int64_t matrices_before(const cudnnRNNStruct& rnn, std::int64_t pseudo_layer) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < pseudo_layer; ++i) sum += matrices(rnn, i);
  return sum;
}

std::int64_t biases(const cudnnRNNStruct& rnn) { return 2 * gates(rnn) * rnn.hidden; }

std::int64_t bytes(const cudnnRNNStruct& rnn, std::int64_t elements) {
  return bytes_of({rnn.type, {elements}});
}

/// Where a matrix or a bias lies in the weights: all matrices, then all biases. cuDNN gives each as
/// a tensor of three dimensions.
struct Place {
  std::int64_t offset;  // in numbers
  std::vector<std::int64_t> sizes;
};

Place matrix_place(const cudnnRNNStruct& rnn, std::int64_t pseudo_layer, std::int64_t linear) {
  const std::int64_t input = input_of(rnn, pseudo_layer);
  const std::int64_t begin = matrices_before(rnn, pseudo_layer);
  const std::int64_t before = std::min(linear, gates(rnn));  // those of the input come first
  const std::int64_t offset =
      begin + rnn.hidden * (before * input + (linear - before) * rnn.output);
  if (linear == 2 * gates(rnn)) return {offset, {1, rnn.output, rnn.hidden}};
  return {offset, {1, rnn.hidden, linear < gates(rnn) ? input : rnn.output}};
}

Place bias_place(const cudnnRNNStruct& rnn, std::int64_t pseudo_layer, std::int64_t linear) {
  const std::int64_t offset =
      matrices_before(rnn, pseudo_layers(rnn)) + pseudo_layer * biases(rnn) + linear * rnn.hidden;
  return {offset, {1, rnn.hidden, 1}};
}

std::int64_t weights(const cudnnRNNStruct& rnn) {
  const std::int64_t all_biases = rnn.has_bias ? pseudo_layers(rnn) * biases(rnn) : 0;
  return matrices_before(rnn, pseudo_layers(rnn)) + all_biases;
}

/// What a layer keeps of a time step for each of its hidden numbers: an LSTM its gates and its
/// cell.
std::int64_t kept_numbers(const cudnnRNNStruct& rnn) {
  const std::int64_t projected = is_projected(rnn) ? 1 : 0;
  switch (rnn.mode) {
    case CUDNN_LSTM:
      return 5 + projected;
    case CUDNN_GRU:
      return 6;
    default:
      return 1;
  }
}

/// What is kept for backward, and what a pass works in, are estimated: cuDNN has their sizes in no
/// document, and tells them to none without a GPU.
///
/// Kept are the above, what goes from layer to layer, and a bit for each of its numbers that
/// dropout may drop; what the last layer gives is the caller's. So it was printed of a network of 4
/// layers of 320 at 25,000 rows: 736,000,000 bytes of an LSTM, 864,000,000 of a GRU
/// (https://github.com/pytorch/pytorch/issues/2895); and so are, to the byte, the allocated peaks
/// of LSTMs in 32 and 16 bits on an H100, with cuDNN 9.19.
std::int64_t kept_bytes(const cudnnRNNStruct& rnn, std::int64_t rows) {
  const std::int64_t in_layers = rows * pseudo_layers(rnn) * kept_numbers(rnn) * rnn.hidden;
  const std::int64_t between = rows * (rnn.layers - 1) * rnn.directions * rnn.output;
  return bytes(rnn, in_layers + between) + (rnn.has_dropout ? (between + 7) / 8 : 0);
}

/// The sum is that of these LSTMs' reserved peaks; its parts are likely ones. The same network of
/// 320 worked in its matrices and 3 x gates - 1 states of each layer, at 100 samples: transposed
/// copies. In cuDNN 9 a layer's gradients of its gates and its input come with them, a second copy
/// of the matrices, for theirs, and what its products work in: of an H100 16 MiB a direction.
std::int64_t working_bytes(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& data) {
  constexpr std::int64_t kProductsBytes = std::int64_t{16} << 20;
  const std::int64_t copies = 2 * matrices_before(rnn, pseudo_layers(rnn));
  const std::int64_t gradients = data.rows * rnn.directions * (gates(rnn) + 1) * rnn.hidden;
  const std::int64_t states = data.samples * pseudo_layers(rnn) * (3 * gates(rnn) - 1) * rnn.hidden;
  return bytes(rnn, copies + gradients + states) + rnn.directions * kProductsBytes;
}

/// Each number of a matrix is multiplied once a row, in each pass.
cudnnStatus_t run_pass(cudnnHandle_t handle, const cudnnRNNStruct& rnn,
                       const cudnnRNNDataStruct& data) {
  const bool tensor_cores = rnn.math != CUDNN_FMA_MATH;
  run_product(handle->stream, {2 * data.rows * matrices_before(rnn, pseudo_layers(rnn)),
                               cudnn_precision(rnn.type, tensor_cores)});
  return CUDNN_STATUS_SUCCESS;
}

void give_place(const cudnnRNNStruct& rnn, const Place& place, const void* weight_space,
                cudnnTensorDescriptor_t tensor, void** address) {
  if (tensor != nullptr) *tensor = {rnn.type, place.sizes};
  if (address == nullptr) return;
  auto* begin = static_cast<char*>(const_cast<void*>(weight_space));
  *address = begin + bytes(rnn, place.offset);
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
    cudnnRNNDescriptor_t rnn, cudnnRNNAlgo_t, cudnnRNNMode_t mode, cudnnRNNBiasMode_t bias,
    cudnnDirectionMode_t direction, cudnnRNNInputMode_t, cudnnDataType_t type, cudnnDataType_t,
    cudnnMathType_t math, std::int32_t input, std::int32_t hidden, std::int32_t projection,
    std::int32_t layers, cudnnDropoutDescriptor_t dropout, std::uint32_t) {
  *rnn = {.mode = mode,
          .type = type,
          .math = math,
          .has_bias = bias != CUDNN_RNN_NO_BIAS,
          .has_dropout = dropout != nullptr && dropout->probability > 0,
          .directions = direction == CUDNN_BIDIRECTIONAL ? 2 : 1,
          .layers = layers,
          .input = input,
          .hidden = hidden,
          .output = projection};
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
                                                       cudnnDataType_t, cudnnRNNDataLayout_t, int,
                                                       int samples, int, const int lengths[],
                                                       void*) {
  data->samples = samples;
  data->rows = std::accumulate(lengths, lengths + samples, std::int64_t{0});
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t rnn,
                                                        std::size_t* size) {
  *size = static_cast<std::size_t>(bytes(*rnn, weights(*rnn)));
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetRNNWeightParams(
    cudnnHandle_t, cudnnRNNDescriptor_t rnn, std::int32_t pseudo_layer, std::size_t,
    const void* weight_space, std::int32_t linear, cudnnTensorDescriptor_t matrix,
    void** matrix_address, cudnnTensorDescriptor_t bias, void** bias_address) {
  give_place(*rnn, matrix_place(*rnn, pseudo_layer, linear), weight_space, matrix, matrix_address);
  if (rnn->has_bias) {
    give_place(*rnn, bias_place(*rnn, pseudo_layer, linear), weight_space, bias, bias_address);
  }
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t rnn,
                                                       cudnnForwardMode_t mode,
                                                       cudnnRNNDataDescriptor_t data,
                                                       std::size_t* working, std::size_t* kept) {
  note_estimated("recurrent networks of cuDNN");
  if (working != nullptr) *working = static_cast<std::size_t>(working_bytes(*rnn, *data));
  if (kept != nullptr) {
    const bool is_training = mode == CUDNN_FWD_MODE_TRAINING;
    *kept = is_training ? static_cast<std::size_t>(kept_bytes(*rnn, data->rows)) : 0;
  }
  return CUDNN_STATUS_SUCCESS;
}

HEADROOM_ENTRY cudnnStatus_t cudnnRNNForward(
    cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t, const std::int32_t[],
    cudnnRNNDataDescriptor_t x, const void*, cudnnRNNDataDescriptor_t, void*,
    cudnnTensorDescriptor_t, const void*, void*, cudnnTensorDescriptor_t, const void*, void*,
    std::size_t, const void*, std::size_t, void*, std::size_t, void*) {
  return run_pass(handle, *rnn, *x);
}

HEADROOM_ENTRY cudnnStatus_t cudnnRNNBackwardData_v8(
    cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, const std::int32_t[], cudnnRNNDataDescriptor_t,
    const void*, const void*, cudnnRNNDataDescriptor_t x, void*, cudnnTensorDescriptor_t,
    const void*, const void*, void*, cudnnTensorDescriptor_t, const void*, const void*, void*,
    std::size_t, const void*, std::size_t, void*, std::size_t, void*) {
  return run_pass(handle, *rnn, *x);
}

HEADROOM_ENTRY cudnnStatus_t cudnnRNNBackwardWeights_v8(
    cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnWgradMode_t, const std::int32_t[],
    cudnnRNNDataDescriptor_t x, const void*, cudnnTensorDescriptor_t, const void*,
    cudnnRNNDataDescriptor_t, const void*, std::size_t, void*, std::size_t, void*, std::size_t,
    void*) {
  return run_pass(handle, *rnn, *x);
}

}  // namespace headroom::dry_run
