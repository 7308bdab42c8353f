// SPDX-License-Identifier: Apache-2.0
#include "src/runner/dry_run.h"

#include <algorithm>
#include <cstdlib>

#include "src/core/file.h"
#include "src/core/json.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytesOfReport = 1 << 20;

/// LD_PRELOAD may name something already; it stays, behind ours.
std::string preload(const std::string& folder) {
  const char* before = std::getenv("LD_PRELOAD");
  return folder + "/libcuda.so.1:" + folder + "/libnvidia-ml.so.1" +
         (before == nullptr ? "" : std::string(":") + before);
}

}  // namespace

Environment dry_run_environment(const DryRun& dry_run, const std::filesystem::path& reports) {
  Environment environment{{"LD_PRELOAD", preload(dry_run.libraries)},
                          {"TRITON_LIBCUDA_PATH", dry_run.libraries},
                          {"HEADROOM_DRY_RUN_GPU", dry_run.gpu},
                          {"HEADROOM_DRY_RUN_MEMORY", std::to_string(dry_run.memory_bytes)},
                          {"HEADROOM_DRY_RUN_OVERCOMMIT", dry_run.overcommit ? "1" : "0"},
                          {"HEADROOM_DRY_RUN_REPORT", reports.string()},
                          // There is one device, and it is not one of this machine's.
                          {"CUDA_VISIBLE_DEVICES", "0"}};
  if (dry_run.host == DryRun::Host::ahead)
    environment.emplace_back("HEADROOM_DRY_RUN_HOST_NS", "0");
  if (dry_run.host == DryRun::Host::slow) {
    environment.emplace_back("HEADROOM_DRY_RUN_HOST_NS", "slow");
  }
  return environment;
}

std::vector<Json> read_reports(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Json> reports;
  for (const auto& file : files) {
    try {
      reports.push_back(read_json(read_file(file.string(), kMostBytesOfReport)));
    } catch (const JsonError&) {  // its process was killed while it wrote
    }
  }
  return reports;
}

}  // namespace headroom
