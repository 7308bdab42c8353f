// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/gpus/gpu.h"

namespace headroom::dry_run {

/// Which convolutions of cuDNN work on copies of their tensors.
enum class CopiesOf { none, forward, backward };

/// What the dry run plays, as environment variables say it. They are read once, at the first call.
struct Settings {
  /// HEADROOM_DRY_RUN_GPU: a name of gpu_table(), or what gpu_text() gives. Default h200.
  const Gpu* gpu = nullptr;
  /// HEADROOM_DRY_RUN_DEVICES: how many of them the machine has, up to kMaxDryDevices. Default 1.
  int devices = 1;
  /// HEADROOM_DRY_RUN_PLAYED: a folder, in which ranks keep what they tell each other. Each process
  /// is one rank; some of the others have run before, and the rest never come, also where the
  /// machine has a GPU for each. Empty: it is not so.
  std::string played_folder;
  /// HEADROOM_DRY_RUN_MEMORY: bytes of each device, in place of the GPU's own. 0: the GPU's own.
  std::int64_t memory_bytes = 0;
  /// HEADROOM_DRY_RUN_OVERCOMMIT=1: allocations succeed beyond the memory, so that a plan can say
  /// how much is missing.
  bool overcommit = false;
  /// HEADROOM_DRY_RUN_HOST_NS: how long the host takes to launch one piece of work on the device,
  /// in nanoseconds. Default 6000, as a fast one does: stated, not measured. 0: the host is as far
  /// ahead of the device as its own waits and the launch queue let it be. `slow`: the device always
  /// waits for the host. Reserved memory lies between what the two give.
  std::int64_t host_ns = 6000;
  static constexpr std::int64_t kSlowHost = -1;  // of host_ns: `slow`
  /// How many pieces of work a stream holds: who launches one more waits until the first is done.
  /// NVIDIA does not say how many; it was measured that about 1000 kernels go into each stream
  /// (forums.developer.nvidia.com/t/68937). CUDA's own variable CUDA_SCALE_LAUNCH_QUEUES multiplies
  /// it: 0.25x, 0.5x, 2x, 4x (CUDA Programming Guide 5.2).
  std::int64_t launch_queue = 1024;
  /// CUDA_LAUNCH_BLOCKING=1: who launches a kernel waits until it is done; copies go on by
  /// themselves (CUDA Programming Guide 5.2).
  bool launches_wait = false;
  /// HEADROOM_DRY_RUN_LAYOUT_COPIES: which convolutions work on copies of tensors whose channels
  /// are not last in memory, `none`, `forward` or `backward`, and cuDNN is not asked for its
  /// engines. Default: it is asked, and `none` where it can't be.
  std::optional<CopiesOf> layout_copies;
  /// HEADROOM_DRY_RUN_TRIED_ENGINES: which of cuDNN's engines that a program tries takes the least
  /// time: `ranked`, the one that cuDNN ranks first unless another should take less than half, or
  /// `fastest`, by FLOPs and bytes alone. Default: `ranked`.
  bool trusts_ranks = true;
  /// HEADROOM_DRY_RUN_HOLDERS: a folder, in which each process of PyTorch leaves what holds its
  /// peaks. Empty: that is not looked at.
  std::string holders_folder;
  /// HEADROOM_DRY_RUN_SNAPSHOT: a file, FOLDER/NAME.pickle, for what PyTorch's allocator did; of
  /// rank N above 0 it is NAME.rankN.pickle. Empty: none.
  std::string snapshot_file;
  /// HEADROOM_DRY_RUN_STEPS: a program of PyTorch ends after so many steps of its optimizers. 0: by
  /// itself.
  std::int64_t steps = 0;
  /// HEADROOM_DRY_RUN_REPORT: a folder, in which each process that used a device keeps its report.
  /// Empty: no report.
  std::string report_folder;
};

/// Reads the environment. A value that makes no sense ends the process, with a message on standard
/// error and exit status 2: there is nobody else to tell.
Settings read_settings();

}  // namespace headroom::dry_run
