// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "src/dry_run/known_bytes.h"
#include "src/dry_run/memory.h"
#include "src/dry_run/settings.h"
#include "src/dry_run/timeline.h"
#include "src/dry_run/work.h"

/// An entry point of a library that the dry run stands in for. The library's own header declares
/// it.
#define HEADROOM_ENTRY extern "C" __attribute__((visibility("default")))

namespace headroom::dry_run {

/// What the program had the device do.
struct Counters {
  std::atomic<std::int64_t> launches{0};
  std::atomic<std::int64_t> product_flops{0};
  std::atomic<std::int64_t> to_device_bytes{0};
  std::atomic<std::int64_t> to_host_bytes{0};
  std::atomic<std::int64_t> values_read{0};  // copies to the host of a few bytes
  std::atomic<std::int64_t> collective_bytes{0};
};

/// The one device of this process. The entry points change it, the report reads it.
struct DryRun {
  Settings settings = read_settings();
  const Gpu& gpu = *settings.gpu;
  GpuMemory memory{settings.memory_bytes > 0 ? settings.memory_bytes : gpu.memory_bytes,
                   gpu.context_bytes, settings.overcommit};
  PinnedMemory pinned;
  KnownBytes known;
  Timeline timeline{settings.host_ns, settings.launch_queue};
  Counters counters;
};

/// Made at the first call, never destroyed: programs call CUDA until their very end.
DryRun& dry_run();

/// The same, where the call needs a context, which takes memory: any but the questions about the
/// device.
DryRun& dry_run_with_context();

/// The same, where the call takes memory of the device: by now a program of PyTorch has loaded it.
DryRun& dry_run_with_memory();

/// Puts work on a stream, and counts it as a launch: of a given length, which may write anywhere;
/// of a kernel; of a product.
void run_work(cudaStream_t stream, std::int64_t ns);
void run_kernel(cudaStream_t stream, std::int64_t threads);
void run_product(cudaStream_t stream, std::int64_t flops, Precision precision);

/// The same for what writes nowhere but where its caller says in DryRun::known.
void run_transfer(cudaStream_t stream, std::int64_t ns);

/// Gives the error back, and keeps it as this thread's last error, as cudart does.
cudaError_t fail(cudaError_t error);

/// The program called what the dry run lacks: names it in the report.
void note_not_modelled(const std::string& function);

/// The same, then throws std::runtime_error, which PyTorch passes on to the line of the program
/// that needed it.
[[noreturn]] void not_modelled(const char* function);

/// The functions that note_not_modelled() was called with, joined by ", ".
std::string not_modelled_functions();

// The report of this process (dry_report.h), in the folder that the settings name. Where it can't
// be made, that is said on standard error, and the process ends with exit code 4.

/// Brings it up to date with the device's memory and counters.
void report_device();
/// With the peaks that PyTorch's allocator says as well. Takes the allocator's lock.
void report_work();
/// With what PyTorch's allocator tells of itself: what it holds now, in bytes; that it gave up.
void report_allocator(std::int64_t allocated, std::int64_t reserved);
void report_out_of_memory();
/// With LibTorch's version, and the functions that are not modelled.
void report_texts();
/// For the last time: the process ends by itself.
void report_end();

}  // namespace headroom::dry_run

/// The device's memory in use, and in all, in bytes, without making a context: for the library that
/// stands in for NVML.
HEADROOM_ENTRY void headroom_dry_run_memory(std::size_t* used, std::size_t* total);
