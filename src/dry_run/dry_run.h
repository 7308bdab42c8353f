// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "src/dry_run/current_device.h"
#include "src/dry_run/host_pace.h"
#include "src/dry_run/known_bytes.h"
#include "src/dry_run/live_blocks.h"
#include "src/dry_run/memory.h"
#include "src/dry_run/nccl_buffers.h"
#include "src/dry_run/settings.h"
#include "src/dry_run/step_clock.h"
#include "src/dry_run/timeline.h"
#include "src/dry_run/work.h"

/// An entry point of a library that the dry run stands in for. The library's own header declares
/// it.
#define HEADROOM_ENTRY extern "C" __attribute__((visibility("default")))

namespace headroom::dry_run {

/// What the program had a device do.
struct Counters {
  std::atomic<std::int64_t> to_device_bytes{0};
  std::atomic<std::int64_t> to_host_bytes{0};
  std::atomic<std::int64_t> values_read{0};  // copies to the host of a few bytes
  std::atomic<std::int64_t> collective_bytes{0};
  std::atomic<std::int64_t> layout_copies_bytes{0};  // the most that one convolution may copy
  std::atomic<std::int64_t> engine_bytes{0};         // the most that an engine of cuDNN worked in
  std::atomic<bool> tried_engines{false};            // that cuDNN does not rank first
  std::atomic<std::int64_t> attention_kernels{0};    // that cuDNN compiled
};

/// One of the GPUs that this process sees.
struct Device {
  Device(int as_counted, int of_machine, const Settings& settings);

  const int index;   // as this process counts them
  const int number;  // as the machine does
  GpuMemory memory;
  NcclMemory nccl{memory};
  Counters counters;
  StepClock steps;
  std::once_flag has_context;
  std::once_flag has_memory;
};

/// What the entry points change and the reports read: the devices, and what they share.
struct DryRun {
  DryRun();

  const Settings& settings;
  const Gpu& gpu = *settings.gpu;
  PinnedMemory pinned;
  PinnedMemory managed;  // what moves between host and devices: here it stays on the host
  KnownBytes known;
  LiveBlocks blocks;
  Timeline timeline{settings.host_ns, settings.launch_queue, kHostPace, gpu.power,
                    settings.launches_wait};
  std::deque<Device> devices;

  bool has(int device) const { return device >= 0 && device < std::ssize(devices); }
  /// The device that handed the address out; null: none did.
  Device* owner(const void* address);
};

/// What is played. Read at the first call, and before any device is there to be used.
const Settings& settings();

/// Made at the first call, when CUDA_VISIBLE_DEVICES is read, and never destroyed: programs call
/// CUDA until their very end.
DryRun& dry_run();

/// Whether one of its devices handed the address out.
bool is_of_device(const void* address);

/// The current device, or that of an index, where the call needs a context, which takes memory: any
/// but the questions about the device.
Device& device_with_context(int device = current_device());

/// The same, where the call takes memory of the device: by now a program of PyTorch has loaded it.
Device& device_with_memory(int device = current_device());

/// The clock, where the call needs a context on the current device.
Timeline& timeline_with_context();

/// Puts work on a stream, and counts it. It may write anywhere.
void run_work(cudaStream_t stream, const Work& work);
void run_product(cudaStream_t stream, const Product& product);

/// The same for what writes nowhere but where its caller says in DryRun::known.
void run_transfer(cudaStream_t stream, const Work& work);

/// Gives the error back, and keeps it as this thread's last error, as cudart does.
cudaError_t fail(cudaError_t error);

/// The program called what the dry run lacks: names it in the report.
void note_not_modelled(const std::string& function);

/// The same, then throws std::runtime_error, which PyTorch passes on to the line of the program
/// that needed it.
[[noreturn]] void not_modelled(const char* function);

/// The functions that note_not_modelled() was called with, joined by ", ".
std::string not_modelled_functions();

/// A size that only the library itself knows was estimated, and PyTorch may have allocated as much:
/// names in the report whose it is.
void note_estimated(const char* whose);

/// A convolution on the current device may copy so many bytes of tensors into another layout.
void note_layout_copies(std::int64_t bytes);

/// An engine of cuDNN of this rank, from 0 for the first, worked on the current device in so many
/// bytes.
void note_engine(int rank, std::int64_t bytes);

/// The names that note_estimated() was called with, joined by ", ".
std::string estimated_sizes();

/// A solver's number on the device for each of `batch` matrices, or null: it is taken that it
/// succeeded, which is 0.
void assume_solved(const int* info, std::int64_t batch);

// The reports of this process (dry_report.h), one of each device that it made a context on, in the
// folder that the settings name. Where one can't be made, that is said on standard error, and the
// process ends with exit code 4.

/// Brings a device's up to date with its memory and counters.
void report_device(const Device& device);
/// With the peaks that PyTorch's allocator says as well. Takes the allocator's lock.
void report_work(const Device& device);
/// With what PyTorch's allocator tells of itself on a device, by its index: what it holds now, in
/// bytes; that it gave up.
void report_allocator(int device, std::int64_t allocated, std::int64_t reserved);
void report_out_of_memory(int device);
/// The program began the allocator's peaks anew, with so much held then.
void report_new_peaks(int device, std::int64_t allocated, std::int64_t reserved);
/// The steps that ended so far, with their time.
void report_steps(const Device& device);
/// All of them, with LibTorch's version, and the functions that are not modelled.
void report_texts();
/// This process is a rank there. Variables of a launcher come before it, and a larger world before
/// a smaller one.
void report_rank(const Device& device, int rank, int ranks);
/// The process's place in a pipeline of `stages` ranks, where it is in none that is longer; 0: it
/// is in none.
void report_stage(const Device& device, int stage, int stages);
/// All of them, for the last time: the process ends by itself.
void report_end();

}  // namespace headroom::dry_run

// For the library that stands in for NVML, which numbers GPUs as the machine does, whatever a
// program sees of them. Neither makes a context.

HEADROOM_ENTRY int headroom_dry_run_devices();

/// The memory of a GPU that this process uses, and in all, in bytes.
HEADROOM_ENTRY void headroom_dry_run_memory(int number, std::size_t* used, std::size_t* total);

/// A step of the program's training has ended on the current device.
HEADROOM_ENTRY void headroom_dry_run_end_step();

/// The program has begun the peaks of PyTorch's allocator anew, which holds so many bytes then.
HEADROOM_ENTRY void headroom_dry_run_begin_peaks(int device, std::int64_t allocated,
                                                 std::int64_t reserved);

/// The program's host is busy until it has moved so much through its memory.
HEADROOM_ENTRY void headroom_dry_run_move_host_bytes(std::int64_t bytes);

/// What the driver calls the GPUs.
HEADROOM_ENTRY const char* headroom_dry_run_product();
