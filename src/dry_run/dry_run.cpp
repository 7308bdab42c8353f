// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/dry_run.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "src/dry_run/names.h"
#include "src/dry_run/python_calls.h"
#include "src/dry_run/torch_library.h"
#include "src/dry_run/visible_devices.h"

namespace headroom::dry_run {
namespace {

// Of the 128 TiB that a process has.
constexpr std::int64_t kAddressesOfAllDevices = 3 * GpuMemory::kAddresses;

Names& not_modelled_names() {
  static auto& names = *new Names;
  return names;
}

Names& estimated_names() {
  static auto& names = *new Names;
  return names;
}

std::int64_t memory_bytes(const Settings& settings) {
  return settings.memory_bytes > 0 ? settings.memory_bytes : settings.gpu->memory_bytes;
}

/// Null: nobody has asked for a device yet.
std::atomic<DryRun*>& made() {
  static std::atomic<DryRun*> pointer = nullptr;
  return pointer;
}

/// The handlers of atexit run before the destructors of what was loaded earlier, PyTorch's
/// allocator among it: so it can still be asked.
void report_at_exit() {
  static const pid_t owner = getpid();
  static const bool is_registered =
      std::atexit([] {
        if (getpid() == owner) report_end();  // a fork has a copy of the counters, and no device
      }) == 0;
  static_cast<void>(is_registered);
}

/// Threads may raise it at once.
void raise_to(std::atomic<std::int64_t>& most, std::int64_t value) {
  std::int64_t before = most.load();
  while (before < value && !most.compare_exchange_weak(before, value)) {
  }
}

}  // namespace

Device::Device(int as_counted, int of_machine, const Settings& settings)
    : index(as_counted),
      number(of_machine),
      memory(memory_bytes(settings), settings.gpu->context_bytes, settings.overcommit,
             std::min(GpuMemory::kAddresses, kAddressesOfAllDevices / settings.devices)) {}

DryRun::DryRun() : settings(dry_run::settings()) {
  const char* variable = std::getenv("CUDA_VISIBLE_DEVICES");
  const auto list = variable == nullptr ? std::nullopt : std::optional<std::string_view>(variable);
  for (const int number : visible_devices(settings.devices, list)) {
    devices.emplace_back(static_cast<int>(devices.size()), number, settings);
  }
}

Device* DryRun::owner(const void* address) {
  const auto owns = [&](const Device& device) { return device.memory.owns(address); };
  const auto found = std::find_if(devices.begin(), devices.end(), owns);
  return found == devices.end() ? nullptr : &*found;
}

const Settings& settings() {
  static const auto& all = *new Settings(read_settings());
  return all;
}

DryRun& dry_run() {
  static auto& run = *new DryRun;
  made() = &run;
  return run;
}

bool is_of_device(const void* address) { return dry_run().owner(address) != nullptr; }

Device& device_with_context(int device) {
  Device& used = dry_run().devices.at(static_cast<std::size_t>(device));
  std::call_once(used.has_context, [&] {
    used.memory.make_context();
    report_device(used);
    report_at_exit();
  });
  return used;
}

Device& device_with_memory(int device) {
  Device& used = device_with_context(device);
  std::call_once(used.has_memory, [] {
    look_for_torch();
    report_texts();
  });
  return used;
}

Timeline& timeline_with_context() {
  device_with_context();
  return dry_run().timeline;
}

void run_transfer(cudaStream_t stream, const Work& work) {
  Device& device = device_with_context();
  count_python_calls_of_backward();
  if (!dry_run().timeline.run(stream, work)) return;
  report_work(device);
}

void run_work(cudaStream_t stream, const Work& work) {
  dry_run().known.doubt_all();
  run_transfer(stream, work);
}

void run_product(cudaStream_t stream, const Product& product) {
  run_work(stream, product_work(dry_run().gpu, product));
}

void note_not_modelled(const std::string& function) {
  device_with_context();  // so that there is a report to name it
  if (not_modelled_names().add(function)) report_texts();
}

void not_modelled(const char* function) {
  note_not_modelled(function);
  throw std::runtime_error(std::string("headroom dry run: ") + function +
                           " is not modelled: a dry run can't follow this program");
}

std::string not_modelled_functions() { return not_modelled_names().joined(); }

void note_estimated(const char* whose) {
  device_with_context();
  if (estimated_names().add(whose)) report_texts();
}

void note_layout_copies(std::int64_t bytes) {
  raise_to(device_with_context().counters.layout_copies_bytes, bytes);
}

void note_engine(int rank, std::int64_t bytes) {
  Counters& counters = device_with_context().counters;
  raise_to(counters.engine_bytes, bytes);
  if (rank > 0) counters.tried_engines = true;
}

void assume_solved(const int* info, std::int64_t batch) {
  if (info == nullptr) return;
  const auto bytes = static_cast<std::size_t>(batch) * sizeof(int);
  dry_run().known.fill(info, 0, bytes, kAssumed);
}

std::string estimated_sizes() { return estimated_names().joined(); }

}  // namespace headroom::dry_run

HEADROOM_ENTRY int headroom_dry_run_devices() { return headroom::dry_run::settings().devices; }

HEADROOM_ENTRY void headroom_dry_run_memory(int number, std::size_t* used, std::size_t* total) {
  using headroom::dry_run::Device;
  *used = 0;
  *total = static_cast<std::size_t>(headroom::dry_run::memory_bytes(headroom::dry_run::settings()));
  const headroom::dry_run::DryRun* run = headroom::dry_run::made();
  if (run == nullptr) return;
  for (const Device& device : run->devices) {
    if (device.number == number) *used = static_cast<std::size_t>(device.memory.used());
  }
}

HEADROOM_ENTRY void headroom_dry_run_end_step() {
  using namespace headroom::dry_run;
  DryRun& run = dry_run();
  if (run.devices.empty()) return;
  Device& device = run.devices.at(static_cast<std::size_t>(current_device()));
  if (device.memory.used() == 0) return;  // it trains elsewhere
  device.steps.end_step(run.timeline.now(), run.timeline.done());
  report_steps(device);
}

HEADROOM_ENTRY void headroom_dry_run_begin_peaks(int device, std::int64_t allocated,
                                                 std::int64_t reserved) {
  headroom::dry_run::report_new_peaks(device, allocated, reserved);
}

HEADROOM_ENTRY void headroom_dry_run_move_host_bytes(std::int64_t bytes) {
  using namespace headroom::dry_run;
  dry_run().timeline.keep_host_busy(host_memory_ns(bytes));
}

HEADROOM_ENTRY const char* headroom_dry_run_product() {
  return headroom::dry_run::settings().gpu->product;
}
