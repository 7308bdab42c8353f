// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::dry_run {

/// What tells the GPU of that number from the others of the machine, as CUDA and NVML give it.
std::array<unsigned char, 16> device_uuid(int number);
/// The same as NVML writes it: "GPU-00000000-0000-0000-0000-000000000003".
std::string device_uuid_text(int number);

/// Which of a machine's GPUs, numbered from 0, a program sees, in the order in which it counts
/// them. `variable`: CUDA_VISIBLE_DEVICES; nothing: it is not set. It lists numbers, or beginnings
/// of device_uuid_text(). As CUDA does, the list is read up to the first entry that is no GPU of
/// this machine; a GPU that is listed twice leaves none.
std::vector<int> visible_devices(int machine, std::optional<std::string_view> variable);

}  // namespace headroom::dry_run
