// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <string>

// Files that PyTorch's memory_viz (https://pytorch.org/memory_viz) opens: every allocation of the
// CUDA allocator, its segments and blocks.
namespace headroom {

/// Has the allocator write down what it does from here on. It costs host memory and time, none of
/// the device.
/// Throws Unsupported where the device is not CUDA, whose allocator alone can.
void start_snapshot(c10::Device device);

/// Writes what was done since, as a pickle. Throws std::system_error where it can't be written.
void write_snapshot(const std::string& path);

}  // namespace headroom
