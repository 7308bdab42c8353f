// SPDX-License-Identifier: Apache-2.0
// What a process that ran dry writes when it ends, and what it asks of its LibTorch for that.
#include <c10/cuda/CUDACachingAllocator.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <torch/version.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

/// What PyTorch's caching allocator counted, in the program that the dry run was loaded into.
struct TorchAllocator {
  std::string version;    // of the program's LibTorch; empty: it has none
  bool is_known = false;  // it is the version that the dry run was built with
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
  std::int64_t out_of_memory_errors = 0;
};

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

std::string& torch_version() {
  static auto& text = *new std::string;
  return text;
}

/// Asks the allocator of device 0. It has no C interface, so it is asked through LibTorch's own
/// header, and only where the program's LibTorch is the version of that header.
TorchAllocator read_torch_allocator() {
  TorchAllocator result;
  result.version = torch_version();
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

class JsonObject {
 public:
  explicit JsonObject(std::FILE* file) : file_(file) { std::fputc('{', file_); }
  ~JsonObject() { std::fputs("}\n", file_); }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  void number(const char* name, std::int64_t value) {
    std::fprintf(file_, "%s\"%s\": %" PRId64, comma(), name, value);
  }
  /// `value` needs no escapes: names of functions and GPUs.
  void text(const char* name, const std::string& value) {
    std::fprintf(file_, "%s\"%s\": \"%s\"", comma(), name, value.c_str());
  }

 private:
  const char* comma() {
    const char* separator = first_ ? "" : ", ";
    first_ = false;
    return separator;
  }

  std::FILE* file_;
  bool first_ = true;
};

void write_members(JsonObject& json, DryRun& device) {
  json.text("gpu", std::string(device.gpu.name));
  json.number("total_bytes", device.memory.total());
  json.number("context_bytes", device.gpu.context_bytes);
  json.number("peak_device_bytes", device.memory.peak_used());
  json.number("refused_bytes", device.memory.refused_bytes());
  json.number("free_when_refused_bytes", device.memory.free_when_refused());
  json.number("peak_pinned_bytes", device.pinned.peak_bytes());
  json.number("to_device_bytes", device.counters.to_device_bytes);
  json.number("to_host_bytes", device.counters.to_host_bytes);
  json.number("collective_bytes", device.counters.collective_bytes);
  json.number("launches", device.counters.launches);
  json.number("product_flops", device.counters.product_flops);
  json.number("device_time_ns", device.timeline.now_ns());
  json.number("undecided_questions", device.timeline.undecided_questions());
  json.text("not_modelled", not_modelled_functions());
  const TorchAllocator torch = read_torch_allocator();
  json.text("libtorch", torch.version);
  if (torch.is_known) {
    json.number("peak_allocated_bytes", torch.peak_allocated_bytes);
    json.number("peak_reserved_bytes", torch.peak_reserved_bytes);
    json.number("out_of_memory_errors", torch.out_of_memory_errors);
  }
}

std::string report_path() {
  return dry_run().settings.report_folder + "/" + std::to_string(getpid()) + ".json";
}

constexpr int kExitCode = 4;  // headroom's own where the machine lacks something

/// As `errno` has it.
void say_no_report(const std::string& path) {
  std::fprintf(stderr, "headroom dry run: no report: %s can't be written: %s\n", path.c_str(),
               std::strerror(errno));
}

}  // namespace

void remember_torch_version() { torch_version() = program_version(); }

void owe_report() {
  if (dry_run().settings.report_folder.empty()) return;
  const std::string path = report_path();
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) {
    close(file);
    return;
  }
  // One that is there tells of the program that this process was before exec().
  const bool is_there = errno == EEXIST;
  say_no_report(path);
  if (!is_there) _exit(kExitCode);  // nobody would learn that this process used a device
  dry_run().settings.report_folder.clear();
}

void write_report() {
  DryRun& device = dry_run();
  if (device.settings.report_folder.empty()) return;
  const std::string path = report_path();
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return say_no_report(path);
  {
    JsonObject json(file);
    write_members(json, device);
  }
  const bool has_failed = std::fflush(file) != 0 || std::ferror(file) != 0;
  if (has_failed) say_no_report(path);
  if (std::fclose(file) != 0 && !has_failed) say_no_report(path);
}

}  // namespace headroom::dry_run
