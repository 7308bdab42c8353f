// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/settings.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "src/dry_run/dry_report.h"
#include "src/gpus/gpu_figures.h"

namespace headroom::dry_run {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[noreturn]] void refuse(const char* name, std::string_view value, const char* allowed) {
  std::fprintf(stderr, "headroom dry run: %s=%.*s: allowed is %s\n", name,
               static_cast<int>(value.size()), value.data(), allowed);
  std::_Exit(2);
}

std::int64_t whole_number(const char* name, std::int64_t otherwise) {
  const std::string_view text = variable(name);
  if (text.empty()) return otherwise;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    refuse(name, text, "a whole number from 0 up");
  }
  return value;
}

int number_of_devices() {
  constexpr const char* kName = "HEADROOM_DRY_RUN_DEVICES";
  const std::int64_t number = whole_number(kName, 1);
  if (number < 1 || number > kMaxDryDevices) {
    refuse(kName, variable(kName), "a whole number from 1 to 64");
  }
  return static_cast<int>(number);
}

std::optional<CopiesOf> convolutions_with_copies() {
  constexpr const char* kName = "HEADROOM_DRY_RUN_LAYOUT_COPIES";
  const std::string_view which = variable(kName);
  if (which.empty()) return std::nullopt;
  if (which == "none") return CopiesOf::none;
  if (which == "forward") return CopiesOf::forward;
  if (which == "backward") return CopiesOf::backward;
  refuse(kName, which, "none, forward or backward");
}

bool trusts_ranks_of_engines() {
  constexpr const char* kName = "HEADROOM_DRY_RUN_TRIED_ENGINES";
  const std::string_view which = variable(kName);
  if (which.empty() || which == "ranked") return true;
  if (which == "fastest") return false;
  refuse(kName, which, "ranked or fastest");
}

/// As CUDA does, it takes no notice of any other value.
std::int64_t scaled(std::int64_t launch_queue) {
  const std::string_view scale = variable("CUDA_SCALE_LAUNCH_QUEUES");
  if (scale == "0.25x") return launch_queue / 4;
  if (scale == "0.5x") return launch_queue / 2;
  if (scale == "2x") return launch_queue * 2;
  if (scale == "4x") return launch_queue * 4;
  return launch_queue;
}

}  // namespace

Settings read_settings() {
  Settings settings;
  const std::string_view gpu = variable("HEADROOM_DRY_RUN_GPU");
  settings.gpu = find_gpu(gpu.empty() ? kDefaultGpu : gpu);
  if (settings.gpu == nullptr) settings.gpu = add_gpu(gpu);
  if (settings.gpu == nullptr) {
    refuse("HEADROOM_DRY_RUN_GPU", gpu, "a name that 'headroom list gpus' shows");
  }
  settings.devices = number_of_devices();
  settings.played_folder = variable("HEADROOM_DRY_RUN_PLAYED");
  settings.memory_bytes = whole_number("HEADROOM_DRY_RUN_MEMORY", 0);
  settings.overcommit = whole_number("HEADROOM_DRY_RUN_OVERCOMMIT", 0) != 0;
  if (variable("HEADROOM_DRY_RUN_HOST_NS") == "slow") {
    settings.host_ns = Settings::kSlowHost;
  } else {
    settings.host_ns = whole_number("HEADROOM_DRY_RUN_HOST_NS", settings.host_ns);
  }
  settings.launch_queue = scaled(settings.launch_queue);
  settings.launches_wait = variable("CUDA_LAUNCH_BLOCKING") == "1";
  settings.layout_copies = convolutions_with_copies();
  settings.trusts_ranks = trusts_ranks_of_engines();
  settings.holders_folder = variable("HEADROOM_DRY_RUN_HOLDERS");
  settings.snapshot_file = variable("HEADROOM_DRY_RUN_SNAPSHOT");
  settings.steps = whole_number("HEADROOM_DRY_RUN_STEPS", 0);
  settings.report_folder = variable("HEADROOM_DRY_RUN_REPORT");
  return settings;
}

}  // namespace headroom::dry_run
