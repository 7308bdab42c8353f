// SPDX-License-Identifier: Apache-2.0
#include "src/runner/dry_run.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <optional>
#include <tuple>
#include <utility>

#include "src/core/error.h"
#include "src/core/file.h"
#include "src/core/scratch_folder.h"
#include "src/gpus/gpu_figures.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// A text of a report; nothing: whoever runs dry can write there, and has written no text.
template <std::size_t size>
std::optional<std::string> text_of(const char (&field)[size]) {
  const char* end = std::find(field, field + size, '\0');
  const bool is_text = end != field + size && std::all_of(field, end, [](char c) {
                         return c >= ' ' && c <= '~' && c != '"' && c != '\\';
                       });
  return is_text ? std::optional(std::string(field, end)) : std::nullopt;
}

/// Null where it is none.
Json json_of(const DryReport& report) {
  const auto gpu = text_of(report.gpu);
  const auto libtorch = text_of(report.libtorch);
  const auto not_modelled = text_of(report.not_modelled);
  const auto estimated = text_of(report.estimated);
  if (report.form != DryReport::kForm || !gpu || !libtorch || !not_modelled || !estimated) {
    return {};
  }
  Json json{{"gpu", *gpu},
            {"libtorch", *libtorch},
            {"not_modelled", *not_modelled},
            {"estimated", *estimated}};
  for (const CountOfReport& count : kCountsOfReport) {
    if (count.is_known != nullptr && report.*count.is_known == 0) continue;
    const std::int64_t value = report.*count.value;
    // Free bytes are less than none where the context alone is larger than the GPU.
    const bool is_free = count.value == &DryReport::free_when_refused_bytes;
    if (value < (is_free ? -report.context_bytes : 0)) return {};
    json[count.name] = value;
  }
  return json;
}

Json read_report(const std::filesystem::path& file) {
  alignas(DryReport) std::array<char, sizeof(DryReport)> bytes{};
  try {
    const std::string text = read_file(file.string(), bytes.size());
    if (text.size() != bytes.size()) return {};
    std::ranges::copy(text, bytes.begin());
  } catch (const ConfigError&) {  // it is too long, or no file
    return {};
  }
  return json_of(*std::launder(reinterpret_cast<const DryReport*>(bytes.data())));
}

/// ld.so splits LD_PRELOAD at spaces and colons, replaces what follows a "$", and knows no escape.
bool can_be_preloaded(const std::string& path) {
  return path.find_first_of(" :$") == std::string::npos;
}

/// The folder of the libraries, by a name that can be preloaded.
std::string preloaded_folder(const std::string& libraries, const std::filesystem::path& scratch) {
  if (can_be_preloaded(libraries)) return libraries;
  const std::filesystem::path link = scratch / "libraries";
  if (!can_be_preloaded(link)) {
    throw ConfigError(libraries + ": its name can't stand in LD_PRELOAD, and neither can that of " +
                      scratch.string() +
                      ": set TMPDIR to a folder without a space, a colon or a '$' in its name");
  }
  std::filesystem::create_directory_symlink(libraries, link);
  return link;
}

/// LD_PRELOAD may name something already; it stays, behind ours.
std::string preload(const std::string& libraries) {
  std::string list;
  for (const std::string& file : dry_run_files(libraries)) list += (list.empty() ? "" : ":") + file;
  const char* before = std::getenv("LD_PRELOAD");
  return before == nullptr ? list : list + ":" + before;
}

/// "0,1,2", of three.
std::string list_devices(int count) {
  std::string list = "0";
  for (int device = 1; device < count; ++device) list += "," + std::to_string(device);
  return list;
}

/// The order of ranks; who has none comes first, in the order of processes and their devices.
bool comes_before(const Json& one, const Json& other) {
  const auto place = [](const Json& report) {
    return std::tuple(report.value("rank", std::int64_t{-1}), report.at("process").get<long>(),
                      report.at("device").get<long>());
  };
  return place(one) < place(other);
}

/// Its name, or, where the program's own table can't have it, its figures.
std::string told_gpu(const std::string& name) {
  const dry_run::Gpu* added = dry_run::added_gpu(name);
  return added == nullptr ? name : dry_run::gpu_text(*added);
}

}  // namespace

std::vector<std::string> dry_run_files(const std::string& libraries) {
  return {libraries + "/libcuda.so.1", libraries + "/libnvidia-ml.so.1"};
}

Environment dry_run_environment(const DryRun& dry_run, const std::filesystem::path& scratch) {
  const std::string libraries = preloaded_folder(dry_run.libraries, scratch);
  Environment environment{{"LD_PRELOAD", preload(libraries)},
                          {"TRITON_LIBCUDA_PATH", libraries},
                          {"HEADROOM_DRY_RUN_GPU", told_gpu(dry_run.gpu)},
                          {"HEADROOM_DRY_RUN_DEVICES", std::to_string(dry_run.devices)},
                          {"HEADROOM_DRY_RUN_MEMORY", std::to_string(dry_run.memory_bytes)},
                          {"HEADROOM_DRY_RUN_OVERCOMMIT", dry_run.overcommit ? "1" : "0"},
                          {"HEADROOM_DRY_RUN_REPORT", scratch.string()},
                          // They are none of this machine's.
                          {"CUDA_VISIBLE_DEVICES", list_devices(dry_run.devices)}};
  // An nvidia-smi of the machine would look for its GPUs. Where there is no PATH, what stands for
  // it stays: one that ends with nothing behind a colon is the current folder.
  if (const char* path = std::getenv("PATH")) {
    environment.emplace_back("PATH", libraries + "/bin:" + path);
  }
  if (!dry_run.compiled.empty()) {
    environment.emplace_back("TORCHINDUCTOR_CACHE_DIR", dry_run.compiled);
  }
  if (dry_run.steps > 0) {
    environment.emplace_back("HEADROOM_DRY_RUN_STEPS", std::to_string(dry_run.steps));
  }
  if (dry_run.holders) environment.emplace_back("HEADROOM_DRY_RUN_HOLDERS", scratch.string());
  if (!dry_run.snapshot.empty()) {
    environment.emplace_back("HEADROOM_DRY_RUN_SNAPSHOT", dry_run.snapshot);
  }
  if (dry_run.host == DryRun::Host::ahead) environment.emplace_back(DryRun::kHost, "0");
  if (dry_run.host == DryRun::Host::slow) environment.emplace_back(DryRun::kHost, "slow");
  if (dry_run.layout_copies != DryRun::LayoutCopies::none) {
    const bool is_forward = dry_run.layout_copies == DryRun::LayoutCopies::forward;
    environment.emplace_back(DryRun::kLayoutCopies, is_forward ? "forward" : "backward");
  }
  if (dry_run.tried_engines == DryRun::TriedEngines::fastest) {
    environment.emplace_back(DryRun::kTriedEngines, "fastest");
  }
  return environment;
}

DryReports read_reports(const std::filesystem::path& scratch) {
  DryReports reports;
  for (const auto& entry : std::filesystem::directory_iterator(scratch)) {
    if (entry.path().extension() != DryReport::kFileEnding) continue;
    Json report = read_report(entry.path());
    if (report.is_null()) {
      ++reports.damaged;
    } else {
      reports.whole.push_back(std::move(report));
    }
  }
  std::stable_sort(reports.whole.begin(), reports.whole.end(), &comes_before);
  return reports;
}

bool ran_out_of_memory(const Json& report) {
  const char* refusals =
      report.contains("out_of_memory_errors") ? "out_of_memory_errors" : "refused_bytes";
  return report.value(refusals, std::int64_t{0}) > 0 ||
         report.at("nccl_refusals").get<std::int64_t>() > 0;
}

void check_has_room_for_report() {
  const ScratchFolder folder;
  write_file_atomically(folder.path() / "room", std::string(sizeof(DryReport), ' '));
}

}  // namespace headroom
