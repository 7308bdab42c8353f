// SPDX-License-Identifier: Apache-2.0
#include "src/cli/arguments.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "src/cli/command_line.h"
#include "src/cli/gpu_file.h"
#include "src/core/enum_names.h"
#include "src/core/error.h"
#include "src/core/text.h"
#include "src/gpus/gpu.h"

namespace headroom {
namespace {

/// Beside this program.
std::string libraries() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "dry_run";
  if (!std::filesystem::is_directory(folder)) {
    throw Unsupported(folder.string() + ": it is not there, and nothing can be planned without it");
  }
  return folder.string();
}

void check_can_plan(const Catalog& catalog) {
  if (!catalog.cuda_built) {
    throw Unsupported(why_no_cuda() +
                      ", and nothing can be planned without that (a GPU is not needed)");
  }
}

std::vector<std::string> names_of_varied() {
  const auto names = enum_names<Varied>();
  return {names.begin(), names.end()};
}

}  // namespace

std::string why_no_cuda() {
  constexpr std::string_view kReason = HEADROOM_WITHOUT_CUDA;  // what CMake missed
  std::string text = "this headroom was built with a LibTorch without CUDA";
  return kReason.empty() ? text : text + " (" + std::string(kReason) + ")";
}

void OverrideArguments::add_to(CLI::App& command) {
  command.add_option("-s,--set", set, "K=V, over every case: train.batch_size=4")
      ->expected(1)
      ->take_all();
  command.add_option("--ranks", ranks,
                     "Processes that train a case together: --set ranks=N; of plan -- PROGRAM: the "
                     "GPUs of its machine, or with --rank its ranks");
}

std::vector<Override> OverrideArguments::overrides() const {
  std::vector<Override> result;
  for (const std::string& text : set) result.push_back(parse_override(text));
  if (!ranks.empty()) result.push_back(parse_override("ranks=" + ranks));
  return result;
}

void SuiteArguments::add_to(CLI::App& command, const std::string& folder) {
  command.add_option("SUITE", suites, "Suite files");
  command.add_option("--only", only, "Only cases whose name this regular expression finds");
  command.add_option("--shard", shard,
                     "I/N: only the I-th of N parts of the cases, by a hash of their names; "
                     "'headroom merge' brings them together");
  overrides.add_to(command);
  command.add_option("-o,--out", out, "The folder for results; default: " + folder + "/SUITE/TIME");
  command.add_flag("-r,--resume", resume,
                   "Go on with the results in --out, or in the newest folder of the suite");
  command.add_flag("--snapshot", snapshot,
                   "Write what CUDA's allocator did in each case, for PyTorch's memory_viz");
  command.add_flag("--json", json, "Print JSON");
}

void DryRunArguments::add_to(CLI::App& command) {
  command.add_option("-g,--gpu", gpu,
                     "The GPU to plan for ('headroom list gpus'), or a file with its figures; "
                     "default: the suite's, or h200");
  command.add_option("--gpu-memory", memory,
                     "Its memory, in place of the GPU's own: 16GiB, 500MiB or bytes");
}

void VaryArguments::add_to(CLI::App& command) {
  command
      .add_option("--vary", names,
                  "What old and new may differ in, as it is what is tried: libtorch, driver")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of_varied()));
}

std::vector<Varied> VaryArguments::varied() const {
  std::vector<Varied> list;
  for (const std::string& name : names) {
    const std::vector<std::string> all = names_of_varied();
    list.push_back(static_cast<Varied>(std::ranges::find(all, name) - all.begin()));
  }
  return list;
}

DryRun make_dry_run(const Catalog& catalog, const DryRunArguments& arguments,
                    const std::string& suite_gpu) {
  DryRun result;
  result.gpu = !arguments.gpu.empty() ? arguments.gpu
               : !suite_gpu.empty()   ? suite_gpu
                                      : std::string(dry_run::kDefaultGpu);
  if (is_gpu_file(result.gpu)) {
    result.gpu = read_gpu_file(result.gpu).name;
  } else if (dry_run::find_gpu(result.gpu) == nullptr) {
    throw ConfigError("--gpu: no GPU '" + result.gpu + "'; " +
                      allowed_names(result.gpu, dry_run::gpu_names()) +
                      "; or a file with its figures: /..., *.yaml, *.json");
  }
  if (!arguments.memory.empty()) {
    const auto bytes = parse_bytes(arguments.memory);
    if (!bytes || *bytes <= 0) {
      throw ConfigError("--gpu-memory: no amount of memory: '" + arguments.memory +
                        "'; allowed are 16GiB, 500MiB, 4096KiB or a number of bytes");
    }
    result.memory_bytes = *bytes;
  }
  check_can_plan(catalog);
  result.libraries = libraries();
  return result;
}

DryRun dry_run_of_product(const Catalog& catalog, const std::string& product) {
  check_can_plan(catalog);
  for (const dry_run::Gpu& gpu : dry_run::gpu_table()) {
    if (product == gpu.product) return {.libraries = libraries(), .gpu = std::string(gpu.name)};
  }
  throw Unsupported(product.empty()
                        ? "--with-plan: there is no GPU here, so a plan has nothing to stand beside"
                        : "--with-plan: the table of GPUs has no " + product);
}

}  // namespace headroom
