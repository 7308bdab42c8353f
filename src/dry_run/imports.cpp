// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/imports.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "src/dry_run/elf_object.h"
#include "src/dry_run/failing_functions.h"

namespace headroom::dry_run {
namespace {

// The libraries that the dry run stands in for, by how the names of their files begin; then come
// their parts (libcudnn_ops, libcublasLt) and versions.
constexpr std::array<std::string_view, 7> kStoodIn = {
    "libcudart", "libcublas", "libcudnn", "libcufft", "libcusolver", "libcusparse", "libnccl"};

// How the names of functions end that need no device.
constexpr std::array<std::string_view, 5> kWithoutDevice = {"Version", "GetProperty", "ErrorString",
                                                            "ErrorName", "StatusString"};

bool is_stood_in(const ElfObject& object) {
  const std::string_view file =
      std::string_view(object.path()).substr(object.path().rfind('/') + 1);
  return std::ranges::any_of(kStoodIn, [&](auto begin) { return file.starts_with(begin); });
}

/// Of what such a library exports: it may hold parts of LAPACK and of the C++ library as well.
bool needs_device(std::string_view function) {
  const bool is_cudas =
      function.starts_with("cu") || function.starts_with("__cuda") || function.starts_with("nccl");
  return is_cudas &&
         std::ranges::none_of(kWithoutDevice, [&](auto end) { return function.ends_with(end); });
}

bool is_dry_run(const ElfObject& object) {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&is_dry_run), &info);
  return object.path() == info.dli_fname;
}

/// What CUDA's libraries have and the dry run has not, but for what needs no device.
std::unordered_set<std::string_view> missing_functions(const std::vector<ElfObject>& objects) {
  std::unordered_set<std::string_view> names;
  for (const ElfObject& object : objects) {
    if (!is_stood_in(object)) continue;
    for (const std::string_view name : object.exports()) {
      if (needs_device(name)) names.insert(name);
    }
  }
  for (const ElfObject& object : objects) {
    if (!is_dry_run(object)) continue;
    for (const std::string_view name : object.exports()) names.erase(name);
  }
  return names;
}

/// How many objects were loaded so far.
unsigned long long loads() {
  unsigned long long count = 0;
  const auto visit = [](dl_phdr_info* info, std::size_t, void* data) {
    *static_cast<unsigned long long*>(data) = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(visit, &count);
  return count;
}

}  // namespace

void bind_what_is_not_modelled() {
  static auto& mutex = *new std::mutex;
  static unsigned long long loads_then = 0;
  const std::lock_guard lock(mutex);
  const unsigned long long loads_now = loads();
  if (loads_now == loads_then) return;
  loads_then = loads_now;
  const std::vector<ElfObject> objects = loaded_objects();
  const auto missing = missing_functions(objects);
  for (const ElfObject& object : objects) {
    if (is_stood_in(object)) continue;  // they call each other, once they are called
    for (const ElfObject::Import& import : object.imports()) {
      if (missing.contains(import.name)) {
        object.bind(import, failing_function(std::string(import.name)));
      }
    }
  }
}

}  // namespace headroom::dry_run
