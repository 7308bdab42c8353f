// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/cudnn_library.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <unistd.h>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "src/dry_run/dry_run.h"
#include "src/dry_run/thread_keys.h"
#include "src/dry_run/torch_library.h"

namespace headroom::dry_run {
namespace {

/// A file beside the library that holds `symbol`.
std::string file_beside(const void* symbol, const char* name) {
  Dl_info info{};
  if (symbol == nullptr || dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/') + 1) + name;
}

/// The file of the backend interface, beside the one that PyTorch is linked with.
std::string graph_library() {
  void* const loaded = loaded_library("libcudnn");
  void* const known = loaded == nullptr ? nullptr : dlsym(loaded, "cudnnGetVersion");
  return file_beside(known, "libcudnn_graph.so.9");
}

template <class Symbol>
bool find(void* library, const char* name, Symbol& symbol) {
  symbol = reinterpret_cast<Symbol>(dlsym(library, name));
  return symbol != nullptr;
}

/// Gives the C library of a namespace a copy of the environment of now. That which it has is the
/// program's, which frees it where it sets a variable. False: it has none.
bool keep_environment(void* library) {
  static auto& texts = *new std::vector<std::string>();
  static auto& places = *new std::vector<char*>();
  char*** its = nullptr;
  if (!find(library, "environ", its)) return false;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each)
    texts.emplace_back(*each);
  for (std::string& text : texts) places.push_back(text.data());
  places.push_back(nullptr);
  *its = places.data();
  return true;
}

/// A namespace of its own, whose libraries keep their threads' values by the program's C library.
/// Null: that could not be loaded.
void* open_namespace() {
  const std::string file =
      file_beside(reinterpret_cast<const void*>(&open_namespace), "libheadroom-thread-keys.so");
  void* const library = dlmopen(LM_ID_NEWLM, file.c_str(), RTLD_NOW);
  ThreadKeys* keys = nullptr;
  if (library == nullptr || !find(library, "headroom_thread_keys", keys)) return nullptr;
  *keys = {pthread_key_create, pthread_key_delete, pthread_getspecific, pthread_setspecific};
  return library;
}

/// In a namespace of its own, where the functions of the dry run are not: its parts call each other
/// by the names that the dry run plays.
bool load(CudnnLibrary& cudnn) {
  void* const first = open_namespace();
  Lmid_t place = 0;
  if (first == nullptr || dlinfo(first, RTLD_DI_LMID, &place) != 0) return false;
  void* const library = dlmopen(place, graph_library().c_str(), RTLD_NOW | RTLD_LOCAL);
  return library != nullptr && keep_environment(library) &&
         find(library, "cudnnBackendCreateDescriptor", cudnn.create) &&
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
