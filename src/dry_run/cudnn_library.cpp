// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/cudnn_library.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <optional>
#include <sstream>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/torch_library.h"

namespace headroom::dry_run {
namespace {

/// The file of the backend interface, beside the one that PyTorch is linked with.
std::string graph_library() {
  void* const loaded = loaded_library("libcudnn");
  Dl_info info{};
  void* const known = loaded == nullptr ? nullptr : dlsym(loaded, "cudnnGetVersion");
  if (known == nullptr || dladdr(known, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/') + 1) + "libcudnn_graph.so.9";
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// In a namespace of its own, where the functions of the dry run are not: its parts call each other
/// by the names that the dry run plays.
bool load(CudnnLibrary& cudnn) {
  void* const library = dlmopen(LM_ID_NEWLM, graph_library().c_str(), RTLD_NOW | RTLD_LOCAL);
  return library != nullptr && find(library, "cudnnBackendCreateDescriptor", cudnn.create) &&
         find(library, "cudnnBackendDestroyDescriptor", cudnn.destroy) &&
         find(library, "cudnnBackendFinalize", cudnn.finalize) &&
         find(library, "cudnnBackendSetAttribute", cudnn.set) &&
         find(library, "cudnnBackendGetAttribute", cudnn.get);
}

bool describe_device(CudnnLibrary& cudnn) {
  const std::string text = device_description();
  return cudnn.create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &cudnn.device) == CUDNN_STATUS_SUCCESS &&
         cudnn.set(cudnn.device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                   static_cast<std::int64_t>(text.size()), text.data()) == CUDNN_STATUS_SUCCESS &&
         cudnn.finalize(cudnn.device) == CUDNN_STATUS_SUCCESS;
}

}  // namespace

std::string device_description() {
  const Gpu& gpu = dry_run().gpu;
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  const auto three = [](const int(&sizes)[3]) {
    std::ostringstream text;
    text << '[' << sizes[0] << ',' << sizes[1] << ',' << sizes[2] << ']';
    return text.str();
  };
  // Clocks decide nothing: of those of the multiprocessors the table knows none.
  std::ostringstream json;
  json << "{\"maxGridSize\":" << three(p.maxGridSize)
       << ",\"maxBlockSize\":" << three(p.maxThreadsDim) << ",\"regsPerBlock\":" << p.regsPerBlock
       << ",\"multiProcessorCount\":" << p.multiProcessorCount << ",\"warpSize\":" << p.warpSize
       << ",\"maxSharedMemoryPerBlock\":" << p.sharedMemPerBlock
       << ",\"maxSharedMemoryPerBlockOptin\":" << p.sharedMemPerBlockOptin
       << ",\"reservedSharedMemoryPerBlock\":"
       << p.sharedMemPerMultiprocessor - p.sharedMemPerBlockOptin
       << ",\"maxRegistersPerSM\":" << p.regsPerMultiprocessor
       << ",\"maxCtasPerSM\":" << p.maxBlocksPerMultiProcessor
       << ",\"maxThreadsPerBlock\":" << p.maxThreadsPerBlock
       << ",\"maxThreadsPerSM\":" << p.maxThreadsPerMultiProcessor
       << ",\"pciDeviceId\":0,\"isTccDriver\":0,\"supportCoopLaunch\":1"
       << ",\"totalGlobalMem\":" << p.totalGlobalMem
       << ",\"smClockRateKHz\":0,\"memClockRateKHz\":" << gpu.memory_clock_khz
       << ",\"l2CacheSize\":" << p.l2CacheSize
       << ",\"cudaDeviceId\":0,\"deviceVer\":" << p.major * 100 + p.minor * 10
       << ",\"driverVer\":" << CUDART_VERSION << ",\"deviceName\":\"" << gpu.product << "\"}";
  return json.str();
}

const CudnnLibrary* cudnn_library() {
  static const std::optional<CudnnLibrary> the_library = [] {
    CudnnLibrary cudnn;
    return load(cudnn) && describe_device(cudnn) ? std::optional(cudnn) : std::nullopt;
  }();
  return the_library ? &*the_library : nullptr;
}

}  // namespace headroom::dry_run
