// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/dry_run/dry_report.h"
#include "src/workers/this_process.h"

// How a program is run dry: src/dry_run, the CUDA that does nothing, is loaded before it.
// docs/planning.md.
namespace headroom {

/// What a dry run plays.
struct DryRun {
  std::string libraries;  // the folder of libcuda.so.1 and libnvidia-ml.so.1, those of src/dry_run
  std::string gpu;        // a name that find_gpu() finds; empty: kDefaultGpu
  std::int64_t memory_bytes = 0;  // in place of the GPU's own; 0: its own
  int devices = 1;                // of the machine
  static constexpr int kMaxDevices = kMaxDryDevices;

  /// How fast the host is beside the device decides which blocks the allocator may use again: as
  /// estimated, or one of the two bounds.
  enum class Host { estimated, ahead, slow } host = Host::estimated;
  static constexpr const char* kHost = "HEADROOM_DRY_RUN_HOST_NS";
  /// Which convolutions work on copies of their tensors in another layout: none, as estimated, or
  /// one of the two bounds.
  enum class LayoutCopies { none, forward, backward } layout_copies = LayoutCopies::none;
  static constexpr const char* kLayoutCopies = "HEADROOM_DRY_RUN_LAYOUT_COPIES";
  /// Which of cuDNN's engines a program keeps of those that it tries: as estimated by their ranks,
  /// or the one that is the fastest by FLOPs and bytes alone.
  enum class TriedEngines { ranked, fastest } tried_engines = TriedEngines::ranked;
  static constexpr const char* kTriedEngines = "HEADROOM_DRY_RUN_TRIED_ENGINES";
  bool overcommit = false;  // allocations beyond the memory succeed
  bool holders = false;     // programs of PyTorch leave what holds their peaks
  std::string compiled{};   // a folder for what torch.compile keeps; empty: its usual one
  std::string snapshot{};   // what programs of PyTorch leave of their allocator; empty: nothing
  int steps = 0;            // of optimizers, after which a program of PyTorch ends; 0: by itself
  int seconds = 0;          // after which a program is ended; 0: it ends by itself
};

/// The files of the folder `libraries` that are loaded before a program that runs dry.
std::vector<std::string> dry_run_files(const std::string& libraries);

/// The variables that make a program run dry. Its processes leave their reports in `scratch`, a
/// folder of this run alone; a link to the libraries is put there too where LD_PRELOAD can't hold
/// their own path. Throws ConfigError where it can't hold that of `scratch` either.
Environment dry_run_environment(const DryRun& dry_run, const std::filesystem::path& scratch);

/// What the processes that used the device have told.
struct DryReports {
  /// Of each program that a process was, and each device that it used, in the order of ranks,
  /// process numbers and devices: the counts and texts of src/dry_run/dry_report.h; those of the
  /// allocator where it could be asked, the rank where the process has one.
  std::vector<nlohmann::ordered_json> whole;
  std::size_t damaged = 0;  // files that are no report, or no more
};

/// Reads the reports in the folder of a run.
DryReports read_reports(const std::filesystem::path& scratch);

/// Whether memory ran out: PyTorch's allocator tries again where it was refused; where it can't be
/// asked, its first try counts, and NCCL has but one. `report`: one of DryReports::whole.
bool ran_out_of_memory(const nlohmann::ordered_json& report);

/// Throws std::system_error where the disk has no room for a report. So a process that left none
/// may have been unable to: that is no fault of its own, and may pass.
void check_has_room_for_report();

}  // namespace headroom
