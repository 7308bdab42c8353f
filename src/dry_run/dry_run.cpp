// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/dry_run.h"

#include <unistd.h>

#include <mutex>
#include <stdexcept>
#include <string>

#include "src/dry_run/torch_library.h"

namespace headroom::dry_run {
namespace {

std::mutex names_mutex;

std::string& names() {
  static auto& list = *new std::string;
  return list;
}

}  // namespace

DryRun& dry_run() {
  static auto& device = *new DryRun;
  return device;
}

DryRun& dry_run_with_context() {
  static DryRun& device = []() -> DryRun& {
    dry_run().memory.make_context();
    report_device();
    // The handlers of atexit run before the destructors of what was loaded earlier, PyTorch's
    // allocator among it: so it can still be asked.
    static const pid_t owner = getpid();
    std::atexit([] {
      if (getpid() == owner) report_end();  // a fork has a copy of the counters, and no device
    });
    return dry_run();
  }();
  return device;
}

DryRun& dry_run_with_memory() {
  static DryRun& device = []() -> DryRun& {
    DryRun& with_context = dry_run_with_context();
    look_for_torch();
    report_texts();
    return with_context;
  }();
  return device;
}

void run_transfer(cudaStream_t stream, std::int64_t ns) {
  DryRun& device = dry_run_with_context();
  ++device.counters.launches;
  device.timeline.run(stream, ns);
  report_work();
}

void run_work(cudaStream_t stream, std::int64_t ns) {
  dry_run().known.forget_all();
  run_transfer(stream, ns);
}

void run_kernel(cudaStream_t stream, std::int64_t threads) {
  run_work(stream, kernel_ns(dry_run().gpu, threads));
}

void run_product(cudaStream_t stream, std::int64_t flops, Precision precision) {
  DryRun& device = dry_run();
  device.counters.product_flops += flops;
  run_work(stream, product_ns(device.gpu, flops, precision));
}

void note_not_modelled(const std::string& function) {
  dry_run_with_context();  // so that there is a report to name it
  {
    const std::lock_guard lock(names_mutex);
    if (names().find(function) == std::string::npos) {
      names() += (names().empty() ? "" : ", ") + function;
    }
  }
  report_texts();
}

void not_modelled(const char* function) {
  note_not_modelled(function);
  throw std::runtime_error(std::string("headroom dry run: ") + function +
                           " is not modelled: a dry run can't follow this program");
}

std::string not_modelled_functions() {
  const std::lock_guard lock(names_mutex);
  return names();
}

}  // namespace headroom::dry_run

HEADROOM_ENTRY void headroom_dry_run_memory(std::size_t* used, std::size_t* total) {
  const auto& memory = headroom::dry_run::dry_run().memory;
  *used = static_cast<std::size_t>(memory.used());
  *total = static_cast<std::size_t>(memory.total());
}
