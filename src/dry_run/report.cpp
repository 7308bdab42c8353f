// SPDX-License-Identifier: Apache-2.0
// The reports of this process: where they lie, and what stands in them.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "src/dry_run/dry_report.h"
#include "src/dry_run/dry_run.h"
#include "src/dry_run/launcher.h"
#include "src/dry_run/torch_library.h"

namespace headroom::dry_run {
namespace {

constexpr int kExitCode = 4;  // headroom's own where the machine lacks something

/// Nobody would learn that this process used a device.
[[noreturn]] void end_without_report(const std::string& path, int error) {
  std::fprintf(stderr, "headroom dry run: no report: %s can't be written: %s\n", path.c_str(),
               std::strerror(error));
  unlink(path.c_str());  // what was made of it
  _exit(kExitCode);
}

/// A file of this process: its number is also that of the program that it was before an exec, and
/// it may have several devices.
int make_file(const std::string& folder, std::string& path) {
  for (int count = 0;; ++count) {
    path = folder + "/" + std::to_string(getpid()) + "." + std::to_string(count) +
           DryReport::kFileEnding;
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
}

void* map(int file) {
  const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  return mmap(nullptr, sizeof(DryReport), PROT_READ | PROT_WRITE, kind, file, 0);
}

/// In the folder of the settings; where they name none, in memory of this process.
void* map_page(const std::string& folder) {
  if (folder.empty()) return map(-1);
  std::string path;
  const int file = make_file(folder, path);
  if (file < 0) end_without_report(path, errno);
  // Room on the disk now: a write to a mapping can't fail otherwise than by SIGBUS.
  const int error = posix_fallocate(file, 0, sizeof(DryReport));
  if (error != 0) end_without_report(path, error);
  void* page = map(file);
  if (page == MAP_FAILED) end_without_report(path, errno);
  close(file);
  return page;
}

template <std::size_t size>
void set_text(char (&field)[size], const std::string& text) {
  std::strncpy(field, text.c_str(), size - 1);
}

/// By the device's index.
using Pages = std::map<int, DryReport*>;

Pages& pages() {
  static auto& all = *new Pages;
  return all;
}

std::mutex& page_mutex() {
  static auto& the_mutex = *new std::mutex;
  return the_mutex;
}

/// A fork has a copy of the counters, and no device: it goes on in memory of its own.
void leave_pages_to_parent() {
  for (const auto& [index, page] : pages()) {
    mmap(page, sizeof(DryReport), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
         -1, 0);
  }
}

DryReport& make_page(const Device& device) {
  const DryRun& run = dry_run();
  void* memory = map_page(run.settings.report_folder);
  if (memory == MAP_FAILED) end_without_report("a page of memory", errno);
  auto& report = *new (memory) DryReport{};
  set_text(report.gpu, std::string(run.gpu.name));
  report.process = getpid();
  report.device = device.number;
  const RankOfWorld place = rank_by_launcher().value_or(RankOfWorld{0, 0});
  report.rank = place.rank;
  report.ranks = place.ranks;
  report.form = DryReport::kForm;
  static const int is_registered = pthread_atfork(nullptr, nullptr, &leave_pages_to_parent);
  static_cast<void>(is_registered);
  return report;
}

DryReport& page_locked(const Device& device) {
  DryReport*& page = pages()[device.index];
  if (page == nullptr) page = &make_page(device);
  return *page;
}

void raise(DryReport::Count& peak, std::int64_t value) { peak = std::max(peak.load(), value); }

void write_device(DryReport& report, const Device& device) {
  const DryRun& run = dry_run();
  report.total_bytes = device.memory.total();
  report.context_bytes = run.gpu.context_bytes;
  report.peak_device_bytes = device.memory.peak_used();
  report.refused_bytes = device.memory.refused_bytes();
  report.free_when_refused_bytes = device.memory.free_when_refused();
  report.peak_pinned_bytes = run.pinned.peak_bytes();
  report.peak_managed_bytes = run.managed.peak_bytes();
  report.to_device_bytes = device.counters.to_device_bytes.load();
  report.to_host_bytes = device.counters.to_host_bytes.load();
  report.values_read = device.counters.values_read.load();
  report.collective_bytes = device.counters.collective_bytes.load();
  report.nccl_bytes = device.nccl.peak_bytes();
  report.nccl_refusals = device.nccl.refusals();
  report.layout_copies_bytes = device.counters.layout_copies_bytes.load();
  report.tried_engines_bytes =
      device.counters.tried_engines ? device.counters.engine_bytes.load() : 0;
  report.attention_kernels = device.counters.attention_kernels.load();
  const Work done = run.timeline.done(device.index);
  report.launches = done.launches;
  report.product_flops = done.product_flops;
  report.device_time_ns = run.timeline.now_ns(device.index);
  report.undecided_questions = run.timeline.undecided_questions(device.index);
}

void set_latest_peaks(DryReport& report, std::int64_t allocated, std::int64_t reserved) {
  report.knows_latest_peaks = 1;
  report.latest_peak_allocated_bytes = allocated;
  report.latest_peak_reserved_bytes = reserved;
}

void raise_peaks(DryReport& report, const Device& device, std::int64_t allocated,
                 std::int64_t reserved) {
  report.knows_allocator = 1;
  if (allocated > report.peak_allocated_bytes || reserved > report.peak_reserved_bytes) {
    report.launches_when_grown = dry_run().timeline.done(device.index).launches;
  }
  raise(report.peak_allocated_bytes, allocated);
  raise(report.peak_reserved_bytes, reserved);
  if (report.knows_latest_peaks != 0) {
    raise(report.latest_peak_allocated_bytes, allocated);
    raise(report.latest_peak_reserved_bytes, reserved);
  }
}

void write_allocator(DryReport& report, const Device& device, const TorchAllocator& torch) {
  raise_peaks(report, device, torch.peak_allocated_bytes, torch.peak_reserved_bytes);
  set_latest_peaks(report, torch.peak_allocated_bytes, torch.peak_reserved_bytes);
}

}  // namespace

void report_device(const Device& device) {
  const std::lock_guard lock(page_mutex());
  write_device(page_locked(device), device);
}

void report_work(const Device& device) {
  const auto torch = ask_torch_allocator(device.index);
  const std::lock_guard lock(page_mutex());
  DryReport& page = page_locked(device);
  write_device(page, device);
  if (torch) write_allocator(page, device, *torch);
}

void report_allocator(int device, std::int64_t allocated, std::int64_t reserved) {
  const Device& used = dry_run().devices.at(static_cast<std::size_t>(device));
  const std::lock_guard lock(page_mutex());
  raise_peaks(page_locked(used), used, allocated, reserved);
}

void report_out_of_memory(int device) {
  const Device& used = dry_run().devices.at(static_cast<std::size_t>(device));
  const std::lock_guard lock(page_mutex());
  ++page_locked(used).out_of_memory_errors;
}

void report_new_peaks(int device, std::int64_t allocated, std::int64_t reserved) {
  const Device& used = dry_run().devices.at(static_cast<std::size_t>(device));
  const std::lock_guard lock(page_mutex());
  set_latest_peaks(page_locked(used), allocated, reserved);
}

void report_steps(const Device& device) {
  const StepClock::Steps steps = device.steps.steps();
  const auto in_steps = [&](WorkKind kind) {
    return steps.work.ns[static_cast<std::size_t>(kind)];
  };
  const std::lock_guard lock(page_mutex());
  DryReport& page = page_locked(device);
  page.timed_steps = steps.count;
  page.steps_fast_host_ns = by(Host::played, steps.ns);
  page.steps_ns = by(Host::usual, steps.ns);
  page.steps_slow_host_ns = by(Host::slow, steps.ns);
  page.steps_product_ns = in_steps(WorkKind::product);
  page.steps_attention_ns = in_steps(WorkKind::attention);
  page.steps_memory_ns = in_steps(WorkKind::memory);
  page.steps_host_link_ns = in_steps(WorkKind::host_link);
  page.steps_peer_link_ns = in_steps(WorkKind::peer_link);
}

void report_texts() {
  const std::lock_guard lock(page_mutex());
  for (const auto& [index, page] : pages()) {
    set_text(page->libtorch, torch_version());
    set_text(page->not_modelled, not_modelled_functions());
    set_text(page->estimated, estimated_sizes());
  }
}

void report_rank(const Device& device, int rank, int ranks) {
  const std::lock_guard lock(page_mutex());
  DryReport& page = page_locked(device);
  if (rank_by_launcher() || ranks <= page.ranks) return;
  page.rank = rank;
  page.ranks = ranks;
}

void report_stage(const Device& device, int stage, int stages) {
  const std::lock_guard lock(page_mutex());
  DryReport& page = page_locked(device);
  if (stages != 0 && stages < page.stages) return;
  page.stage = stage;
  page.stages = stages;
}

void report_end() {
  const Pages used = [] {
    const std::lock_guard lock(page_mutex());
    return pages();
  }();
  for (const auto& [index, page] : used) {
    report_work(dry_run().devices.at(static_cast<std::size_t>(index)));
    page->has_ended = 1;
  }
}

}  // namespace headroom::dry_run
