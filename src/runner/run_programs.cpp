// SPDX-License-Identifier: Apache-2.0
#include "src/runner/run_programs.h"

#include "src/core/checksum.h"
#include "src/results/journal.h"

namespace headroom {

namespace {

std::vector<ProgramFile> files_of_run(const std::string& worker,
                                      const std::optional<DryRun>& dry_run) {
  std::vector<ProgramFile> files;
  files.emplace_back(worker);
  if (!dry_run) return files;
  for (const std::string& file : dry_run_files(dry_run->libraries)) files.emplace_back(file);
  return files;
}

}  // namespace

RunPrograms::RunPrograms(const std::string& worker, const std::optional<DryRun>& dry_run)
    : files_(files_of_run(worker, dry_run)), libraries_(worker) {}

void RunPrograms::add_to(nlohmann::ordered_json& header) const {
  std::string of_dry_run;
  for (std::size_t i = 1; i < files_.size(); ++i) of_dry_run += files_[i].hash();
  if (!of_dry_run.empty()) header[kDryRunKey] = fingerprint(of_dry_run);
  if (!libraries_.hash().empty()) header[kLibrariesKey] = libraries_.hash();
}

void RunPrograms::check_are_the_same() {
  for (ProgramFile& file : files_) file.check_is_the_same();
  libraries_.check_are_the_same();
}

}  // namespace headroom
