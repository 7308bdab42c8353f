// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/torch_library.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "src/dry_run/old_strings.h"

namespace headroom::dry_run {
namespace {

using c10::cuda::CUDACachingAllocator::CUDAAllocator;
using Slot = std::atomic<CUDAAllocator*>;

constexpr const char* kUnknown = "unknown";  // version

/// What at::show_config() of that library gives.
std::string show_config(void* library) {
  std::string text = kUnknown;
  if (void* const function = dlsym(library, "_ZN2at11show_configB5cxx11Ev")) {
    text = reinterpret_cast<std::string (*)()>(function)();
  } else if (void* const old_function = dlsym(library, "_ZN2at11show_configEv")) {
    const auto take = [](void* to, const char* given) { *static_cast<std::string*>(to) = given; };
    take_old_string(old_function, take, &text);
  }
  return text;
}

/// What LibTorch says of itself; empty: there is none, or it can't say.
std::string describe_torch() {
  void* library = loaded_library("libtorch_cpu");
  if (library == nullptr) return "";
  try {
    return show_config(library);
  } catch (const std::exception&) {  // it asks CUDA's libraries, one of which may not be modelled
    return kUnknown;
  }
}

/// "TORCH_VERSION=2.11.0, ", which has stood there since 1.3.
std::string version_in(const std::string& description) {
  constexpr std::string_view kKey = "TORCH_VERSION=";
  if (description.empty()) return "";
  const std::size_t begin = description.find(kKey);
  if (begin == std::string::npos) return kUnknown;
  const std::size_t version = begin + kKey.size();
  return description.substr(version, description.find_first_of(", \n", version) - version);
}

/// "arch=compute_86,code=sm_86;", one for each that it was compiled for.
std::vector<int> architectures_in(const std::string& description) {
  std::vector<int> found;
  constexpr std::string_view kKey = "code=sm_";
  for (std::size_t at = 0; (at = description.find(kKey, at)) != std::string::npos;) {
    at += kKey.size();
    found.push_back(std::atoi(description.c_str() + at));
  }
  std::sort(found.begin(), found.end());
  return found;
}

using MajorMinor = std::pair<int, int>;

/// Whether "2.9.1+cu128" is one of these, the last with it.
bool is_between(const std::string& version, MajorMinor first, MajorMinor last) {
  char* end = nullptr;
  const auto major = static_cast<int>(std::strtol(version.c_str(), &end, 10));
  if (*end != '.') return false;
  const MajorMinor mine{major, std::atoi(end + 1)};
  return first <= mine && mine <= last;
}

/// Where LibTorch keeps its allocator.
const Slot* find_slot() {
  void* library = loaded_library("libc10_cuda");
  if (library == nullptr) return nullptr;
  constexpr const char* kSlot = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";
  // A program that is linked with LibTorch may hold the variable itself (a copy relocation).
  void* address = dlsym(RTLD_DEFAULT, kSlot);
  return static_cast<Slot*>(address == nullptr ? dlsym(library, kSlot) : address);
}

struct Torch {
  std::mutex mutex;
  std::string version;
  std::vector<int> architectures;  // rising
  std::atomic<bool> are_kernels_known = false;
  std::atomic<const Slot*> allocator = nullptr;
};

Torch& torch() {
  static auto& the_torch = *new Torch;
  return the_torch;
}

}  // namespace

// Python loads PyTorch's outside of the global scope, so the path is needed.
void* loaded_library(std::string_view name) {
  struct Search {
    std::string_view name;
    std::string path;
  } search{name, ""};
  const auto visit = [](dl_phdr_info* info, std::size_t, void* data) {
    auto& wanted = *static_cast<Search*>(data);
    const std::string_view path = info->dlpi_name;
    const std::string_view file = path.substr(path.rfind('/') + 1);
    if (file.substr(0, file.find_first_of(".-")) != wanted.name) return 0;
    wanted.path = path;
    return 1;
  };
  if (dl_iterate_phdr(visit, &search) == 0) return nullptr;
  return dlopen(search.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
}

void look_for_torch() {
  const std::lock_guard lock(torch().mutex);
  if (!torch().version.empty()) return;
  const std::string description = describe_torch();
  torch().version = version_in(description);
  torch().architectures = architectures_in(description);
  torch().are_kernels_known = is_between(torch().version, {2, 1}, {2, 15});
  // It has no C interface, so it is asked through LibTorch's own header, which is that of one
  // version.
  if (torch().version == TORCH_VERSION) torch().allocator = find_slot();
}

bool are_kernels_of_torch_known() { return torch().are_kernels_known; }

std::string torch_version() {
  const std::lock_guard lock(torch().mutex);
  return torch().version;
}

int torch_architecture(int gpu) {
  const std::lock_guard lock(torch().mutex);
  const std::vector<int>& list = torch().architectures;
  if (list.empty()) return gpu;
  const auto is_usable = [&](int one) { return one <= gpu && one / 10 == gpu / 10; };
  const auto best = std::find_if(list.rbegin(), list.rend(), is_usable);
  return best == list.rend() ? list.front() : *best;
}

bool is_called_by_all() {
  constexpr std::string_view kOperators = "_ZN2at4_ops";  // at::_ops::all_dim::call and others
  std::array<void*, 32> callers{};
  const int count = backtrace(callers.data(), static_cast<int>(callers.size()));
  return std::any_of(callers.begin(), callers.begin() + count, [&](const void* caller) {
    Dl_info info{};
    if (dladdr(caller, &info) == 0 || info.dli_sname == nullptr) return false;
    std::string_view name = info.dli_sname;
    if (!name.starts_with(kOperators)) return false;
    name.remove_prefix(name.find_first_not_of("0123456789", kOperators.size()));
    return name.starts_with("all_") || name.starts_with("all4call") ||
           name.starts_with("all10redispatch");
  });
}

bool is_of_torch_allocator(const void* code) {
  struct Place {
    const void* code = nullptr;
    bool is_of_allocator = false;
  };
  thread_local Place last;  // who asks does so from one place, again and again
  if (last.code != code) {
    Dl_info info{};
    const bool is_found = dladdr(code, &info) != 0 && info.dli_fname != nullptr;
    last = {code, is_found && std::string_view(info.dli_fname).find("/libc10_cuda") !=
                                  std::string_view::npos};
  }
  return last.is_of_allocator;
}

std::optional<TorchAllocator> ask_torch_allocator(int device) {
  const Slot* slot = torch().allocator;
  CUDAAllocator* allocator = slot == nullptr ? nullptr : slot->load();
  if (allocator == nullptr || !allocator->initialized()) return std::nullopt;
  constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const auto stats = allocator->getDeviceStats(static_cast<c10::DeviceIndex>(device));
  return TorchAllocator{.peak_allocated_bytes = stats.allocated_bytes[kAll].peak,
                        .peak_reserved_bytes = stats.reserved_bytes[kAll].peak};
}

}  // namespace headroom::dry_run
