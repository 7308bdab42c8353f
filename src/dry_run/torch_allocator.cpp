// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/torch_allocator.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <dlfcn.h>
#include <link.h>
#include <torch/version.h>

#include <atomic>
#include <exception>
#include <string_view>

namespace headroom::dry_run {
namespace {

using c10::cuda::CUDACachingAllocator::CUDAAllocator;

/// A library that the program has loaded already, by the end of its path; null: it has not. Python
/// loads PyTorch's outside of the global scope, so the path is needed.
void* loaded_library(std::string_view name) {
  struct Search {
    std::string_view name;
    std::string path;
  } search{name, ""};
  const auto visit = [](dl_phdr_info* info, std::size_t, void* data) {
    auto& wanted = *static_cast<Search*>(data);
    if (!std::string_view(info->dlpi_name).ends_with(wanted.name)) return 0;
    wanted.path = info->dlpi_name;
    return 1;
  };
  if (dl_iterate_phdr(visit, &search) == 0) return nullptr;
  return dlopen(search.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
}

/// The version in LibTorch's own description of itself, which has had this form since 1.3.
std::string program_version() {
  void* library = loaded_library("/libtorch_cpu.so");
  if (library == nullptr) return "";
  using ShowConfig = std::string (*)();
  const auto show = reinterpret_cast<ShowConfig>(dlsym(library, "_ZN2at11show_configB5cxx11Ev"));
  if (show == nullptr) return "unknown";
  constexpr std::string_view kKey = "TORCH_VERSION=";
  std::string text;
  try {
    text = show();
  } catch (const std::exception&) {  // it asks CUDA's libraries, one of which may not be modelled
    return "unknown";
  }
  const std::size_t begin = text.find(kKey);
  if (begin == std::string::npos) return "unknown";
  const std::size_t version = begin + kKey.size();
  return text.substr(version, text.find_first_of(", \n", version) - version);
}

std::string& version() {
  static auto& text = *new std::string;
  return text;
}

}  // namespace

void remember_torch_version() { version() = program_version(); }

TorchAllocator read_torch_allocator() {
  TorchAllocator result;
  result.version = version();
  if (result.version != TORCH_VERSION) return result;
  void* library = loaded_library("/libc10_cuda.so");
  if (library == nullptr) return result;
  constexpr const char* kSlot = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";
  // A program that is linked with LibTorch may hold the variable itself (a copy relocation).
  void* address = dlsym(RTLD_DEFAULT, kSlot);
  if (address == nullptr) address = dlsym(library, kSlot);
  const auto* slot = static_cast<std::atomic<CUDAAllocator*>*>(address);
  CUDAAllocator* allocator = slot == nullptr ? nullptr : slot->load();
  if (allocator == nullptr || !allocator->initialized()) return result;
  constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const auto stats = allocator->getDeviceStats(0);
  result.is_known = true;
  result.peak_allocated_bytes = stats.allocated_bytes[kAll].peak;
  result.peak_reserved_bytes = stats.reserved_bytes[kAll].peak;
  result.out_of_memory_errors = stats.num_ooms;
  return result;
}

}  // namespace headroom::dry_run
