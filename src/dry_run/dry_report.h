// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace headroom {

/// The GPUs of the largest machine that can be played.
inline constexpr int kMaxDryDevices = 64;

/// What a process that runs dry tells of a device that it used: a file of this size, which it maps
/// into its memory and keeps true while it runs. So it tells as much however the process ends.
/// src/dry_run writes it and src/runner reads it, both of one build. Sizes in bytes, times in
/// nanoseconds.
struct DryReport {
  using Count = std::atomic<std::int64_t>;

  static constexpr std::uint64_t kForm = 0x68'64'72'6d'00'0c;  // another one for other members
  static constexpr const char* kFileEnding = ".report";

  std::atomic<std::uint64_t> form;  // kForm, once the texts stand

  char gpu[64];             // a name of gpu_table()
  char libtorch[64];        // the program's version; empty: it has none
  char not_modelled[2048];  // functions that the program called in vain, joined by ", "
  char estimated[256];      // whose work areas are estimated, joined by ", "

  Count process;    // its number
  Count device;     // the GPU's number in its machine
  Count rank;       // of the process, where there are
  Count ranks;      // so many; 0: it is none of several, or does not say so
  Count stage;      // of a pipeline, where it sends
  Count stages;     // along so many ranks, from neighbour to neighbour; 0: it has not
  Count has_ended;  // 1: by itself, after its last word; 0: by a signal, _exit() or exec()
  Count total_bytes;
  Count context_bytes;
  Count peak_device_bytes;        // context included
  Count refused_bytes;            // of the last allocation that was refused; 0: none was
  Count free_when_refused_bytes;  // below 0 where the context alone is larger than the device
  Count peak_pinned_bytes;        // of the process, for all its devices
  Count to_device_bytes;
  Count to_host_bytes;
  Count values_read;  // copies to the host of a few bytes, by which a program may decide
  Count collective_bytes;
  Count launches;
  Count product_flops;
  Count device_time_ns;
  Count undecided_questions;

  /// What PyTorch's allocator told. Its peaks since the start, also where the program began them
  /// anew.
  Count knows_allocator;  // 0: it told nothing, and what follows is 0
  Count peak_allocated_bytes;
  Count peak_reserved_bytes;
  Count out_of_memory_errors;
  Count launches_when_grown;  // of `launches`: when either peak last grew
  /// Its peaks since the program last began them anew, as PyTorch says them.
  Count knows_latest_peaks;  // 0: it can't be asked in this version, and they were not begun anew
  Count latest_peak_allocated_bytes;
  Count latest_peak_reserved_bytes;

  Count nccl_bytes;           // the most that NCCL took of the device for itself
  Count nccl_refusals;        // allocations of NCCL's that were refused: it tries none again
  Count layout_copies_bytes;  // the most that one convolution may copy into another layout
  Count tried_engines_bytes;  // the most that an engine of cuDNN worked in, where several are tried
  Count peak_managed_bytes;   // of the process: what moves between host and devices
  Count attention_kernels;    // that cuDNN compiled, while the host waited

  /// Steps of a training that were timed, together: how long they take by a usual host, by the one
  /// that is played, which is fast where nobody chose it, and by a slow one; and what the device
  /// does in them.
  Count timed_steps;
  Count steps_ns;
  Count steps_fast_host_ns;
  Count steps_slow_host_ns;
  Count steps_product_ns;
  Count steps_attention_ns;
  Count steps_memory_ns;
  Count steps_host_link_ns;
  Count steps_peer_link_ns;
};
static_assert(DryReport::Count::is_always_lock_free);

/// The counts, by the names that reports have for them.
struct CountOfReport {
  const char* name;
  DryReport::Count DryReport::*value;
  DryReport::Count DryReport::*is_known = nullptr;  // 0: `value` is not; null: it always is
};
inline constexpr CountOfReport kCountsOfReport[] = {
    {"process", &DryReport::process},
    {"device", &DryReport::device},
    {"rank", &DryReport::rank, &DryReport::ranks},
    {"ranks", &DryReport::ranks, &DryReport::ranks},
    {"stage", &DryReport::stage, &DryReport::stages},
    {"stages", &DryReport::stages, &DryReport::stages},
    {"has_ended", &DryReport::has_ended},
    {"total_bytes", &DryReport::total_bytes},
    {"context_bytes", &DryReport::context_bytes},
    {"peak_device_bytes", &DryReport::peak_device_bytes},
    {"refused_bytes", &DryReport::refused_bytes},
    {"free_when_refused_bytes", &DryReport::free_when_refused_bytes},
    {"peak_pinned_bytes", &DryReport::peak_pinned_bytes},
    {"to_device_bytes", &DryReport::to_device_bytes},
    {"to_host_bytes", &DryReport::to_host_bytes},
    {"values_read", &DryReport::values_read},
    {"collective_bytes", &DryReport::collective_bytes},
    {"launches", &DryReport::launches},
    {"product_flops", &DryReport::product_flops},
    {"device_time_ns", &DryReport::device_time_ns},
    {"undecided_questions", &DryReport::undecided_questions},
    {"peak_allocated_bytes", &DryReport::peak_allocated_bytes, &DryReport::knows_allocator},
    {"peak_reserved_bytes", &DryReport::peak_reserved_bytes, &DryReport::knows_allocator},
    {"out_of_memory_errors", &DryReport::out_of_memory_errors, &DryReport::knows_allocator},
    {"launches_when_grown", &DryReport::launches_when_grown, &DryReport::knows_allocator},
    {"latest_peak_allocated_bytes", &DryReport::latest_peak_allocated_bytes,
     &DryReport::knows_latest_peaks},
    {"latest_peak_reserved_bytes", &DryReport::latest_peak_reserved_bytes,
     &DryReport::knows_latest_peaks},
    {"nccl_bytes", &DryReport::nccl_bytes},
    {"nccl_refusals", &DryReport::nccl_refusals},
    {"layout_copies_bytes", &DryReport::layout_copies_bytes},
    {"tried_engines_bytes", &DryReport::tried_engines_bytes},
    {"peak_managed_bytes", &DryReport::peak_managed_bytes},
    {"attention_kernels", &DryReport::attention_kernels},
    {"timed_steps", &DryReport::timed_steps},
    {"steps_ns", &DryReport::steps_ns, &DryReport::timed_steps},
    {"steps_fast_host_ns", &DryReport::steps_fast_host_ns, &DryReport::timed_steps},
    {"steps_slow_host_ns", &DryReport::steps_slow_host_ns, &DryReport::timed_steps},
    {"steps_product_ns", &DryReport::steps_product_ns, &DryReport::timed_steps},
    {"steps_attention_ns", &DryReport::steps_attention_ns, &DryReport::timed_steps},
    {"steps_memory_ns", &DryReport::steps_memory_ns, &DryReport::timed_steps},
    {"steps_host_link_ns", &DryReport::steps_host_link_ns, &DryReport::timed_steps},
    {"steps_peer_link_ns", &DryReport::steps_peer_link_ns, &DryReport::timed_steps},
};

}  // namespace headroom
