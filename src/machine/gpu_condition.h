// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>

namespace headroom {

/// What a GPU is like at a moment, by NVML. Empty: NVML does not tell.
struct GpuCondition {
  std::optional<std::int64_t> other_processes;  // that compute there, beside those of the case
  std::optional<std::uint64_t> throttle_bits;   // why its clocks are lower than they could be
  std::optional<std::int64_t> clock_mhz;        // of its multiprocessors
  std::optional<std::int64_t> temperature_c;
};

/// All of it is empty for a CPU. `alone`: this process is the case's only one. Otherwise other
/// processes of this program count as the case's, since its ranks may share a GPU; that can't be
/// told where NVML gives the process numbers of another namespace, as in many containers.
GpuCondition read_gpu_condition(c10::Device device, bool alone);

/// The share of time in which a GPU has a kernel at work, from now on, by NVML's own samples.
class GpuUtilisation {
 public:
  explicit GpuUtilisation(c10::Device device);

  /// The mean of the samples since then, in percent. A GPU takes some each second and keeps a
  /// hundred or so: of a longer time it is that of its end. Empty for a CPU, and where NVML has no
  /// sample of that time.
  std::optional<double> percent() const;

 private:
  c10::Device device_;
  std::uint64_t newest_before_;  // NVML's time of the last sample before, 0: there was none
};

/// The names of the reasons, joined by "+", as NVML's manual has them; "none" where there is none.
std::string throttle_reasons(std::uint64_t throttle_bits);

/// Bytes in use on the GPU as the driver counts them, contexts and other processes included, by
/// NVML, which is loaded when first asked. Empty for a CPU and where there is no NVML.
std::optional<std::int64_t> driver_memory_bytes(c10::Device device);

}  // namespace headroom
