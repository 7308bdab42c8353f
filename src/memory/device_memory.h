// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "src/memory/ledger.h"

namespace headroom {

/// The most memory that was held since the last reset.
struct PeakMemory {
  std::int64_t allocated_bytes = 0;              // by live tensors, as the allocator counts
  std::optional<std::int64_t> reserved_bytes{};  // by the caching allocator's segments (CUDA)
};

/// The allocator of one device while a ledger follows it: what the allocator itself counts, kept
/// apart from the ledger's sums. There is at most one at a time, and it is made before the first
/// tensor of the device.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Waits for the device, reads the peaks since the last call and starts new ones: the one place
  /// where a peak is read and reset.
  virtual PeakMemory take_peak() = 0;

 protected:
  DeviceMemory() = default;
};

/// Follows LibTorch's CPU allocator through its memory reporting. Threads that inherit the caller's
/// at::ThreadLocalState are followed too.
std::unique_ptr<DeviceMemory> watch_cpu_memory(Ledger& ledger);

/// Throws Unsupported in a build without CUDA and on a machine without a CUDA device. Asks only: no
/// context is made, so what the driver counts stays as it is.
void require_cuda();

/// Follows the caching allocator of the current CUDA device through its trace.
/// Throws as require_cuda().
std::unique_ptr<DeviceMemory> watch_cuda_memory(Ledger& ledger);

/// Makes allocations on the current CUDA device beyond `bytes` of reserved memory fail as they
/// would on a smaller GPU. Throws as require_cuda().
void limit_cuda_memory(std::int64_t bytes);

/// Gives the driver what CUDA's allocator keeps and no tensor uses, so that what comes next need
/// not lie in pieces of it. Waits for the device. Does nothing where the device is not CUDA.
void give_back_unused(c10::Device device);

inline std::unique_ptr<DeviceMemory> watch_memory(c10::Device device, Ledger& ledger) {
  return device.is_cuda() ? watch_cuda_memory(ledger) : watch_cpu_memory(ledger);
}

/// Takes away the memory behind a tensor and all its views, whoever else holds them: a library's
/// thread may for a moment longer, and what is live at a peak must not depend on that. They can't
/// be read until it is allocated again.
void release_storage(const at::Tensor& tensor);

/// Gives a tensor of which release_storage() took the memory new one, with any content, on the
/// current stream. The tensor reaches to the end of its storage.
void allocate_storage(const at::Tensor& tensor);

bool is_allocated(const at::Tensor& tensor);

// Files that PyTorch's memory_viz (https://pytorch.org/memory_viz) opens: every allocation of the
// CUDA allocator, its segments and blocks.

/// Has the allocator write down what it does from here on. It costs host memory and time, none of
/// the device.
/// Throws Unsupported where the device is not CUDA, whose allocator alone can.
void start_snapshot(c10::Device device);

/// Writes what was done since, as a pickle. Throws std::system_error where it can't be written.
void write_snapshot(const std::string& path);

}  // namespace headroom
