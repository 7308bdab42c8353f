// SPDX-License-Identifier: Apache-2.0
#include "src/workers/launcher.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "src/core/error.h"
#include "src/core/fields.h"
#include "src/core/text.h"

namespace headroom {
namespace {

constexpr std::int64_t kMaxRanks = 65536;     // as the field `ranks` of a case
constexpr std::int64_t kMaxPort = 65535 - 2;  // two more are asked for, see Launch
constexpr std::size_t kMaxAddressBytes = 255;

/// The variables by which a launcher tells a process which one it is. It is the launcher where
/// `ranks` is set.
struct Launcher {
  std::string_view name;
  std::string_view ranks;
  std::string_view rank;
  std::string_view local_rank;
  std::string_view local_ranks;  // empty: it sets none
};

// Innermost first: mpirun and srun start a torchrun on each machine, srun and Slurm's jobs an
// mpirun. Of srun it is the number of tasks of its step, not SLURM_NTASKS: that one, and
// SLURM_PROCID, are set in the script of a job as well, which is one process and was not started by
// srun.
constexpr std::array kLaunchers{
    Launcher{"torchrun", "WORLD_SIZE", "RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    Launcher{"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
             "OMPI_COMM_WORLD_LOCAL_SIZE"},
    Launcher{"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID", ""},
};

bool is_address(std::string_view text) {
  return !text.empty() && text.size() <= kMaxAddressBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("._-:%").find(c) != std::string_view::npos;
         });
}

/// The variables of one launcher.
class LaunchReader {
 public:
  LaunchReader(const Launcher& launcher, const Variables& environment)
      : launcher_(launcher), environment_(environment) {}

  bool is_set(std::string_view name) const { return environment_.contains(name); }

  std::int64_t integer(std::string_view name, Range<std::int64_t> range) const {
    const std::string allowed =
        "an integer from " + std::to_string(range.min) + " to " + std::to_string(range.max);
    const std::string& text = value(name, allowed);
    const auto number = parse_integer(text);
    if (!number || *number < range.min || *number > range.max)
      refuse(name, "'" + text + "'", allowed);
    return *number;
  }

  std::string address(std::string_view name) const {
    constexpr const char* kAllowed = "the name of a machine, or its IP address";
    const std::string& text = value(name, kAllowed);
    if (!is_address(text)) refuse(name, "'" + text + "'", kAllowed);
    return text;
  }

 private:
  const std::string& value(std::string_view name, const std::string& allowed) const {
    const auto found = environment_.find(name);
    if (found == environment_.end()) refuse(name, "not set", allowed);
    return found->second;
  }

  [[noreturn]] void refuse(std::string_view name, const std::string& what,
                           const std::string& allowed) const {
    throw ConfigError("environment variable " + std::string(name) + " is " + what +
                      "; allowed, as " + std::string(launcher_.name) + " has started this (" +
                      std::string(launcher_.ranks) + " is set): " + allowed);
  }

  const Launcher& launcher_;
  const Variables& environment_;
};

}  // namespace

std::optional<Launch> read_launch(const Variables& environment) {
  const auto found = std::find_if(kLaunchers.begin(), kLaunchers.end(), [&](const Launcher& one) {
    return environment.contains(one.ranks);
  });
  if (found == kLaunchers.end()) return std::nullopt;
  const LaunchReader reader(*found, environment);
  Launch launch;
  launch.launcher = found->name;
  launch.ranks = reader.integer(found->ranks, {1, kMaxRanks});
  launch.rank = reader.integer(found->rank, {0, launch.ranks - 1});
  if (reader.is_set(found->local_ranks)) {
    launch.local_ranks = reader.integer(found->local_ranks, {1, launch.ranks});
  }
  launch.local_rank =
      reader.integer(found->local_rank, {0, launch.local_ranks.value_or(launch.ranks) - 1});
  if (launch.ranks == 1) return std::nullopt;  // it has nobody to meet
  launch.master_address = reader.address("MASTER_ADDR");
  launch.master_port = static_cast<int>(reader.integer("MASTER_PORT", {1, kMaxPort}));
  return launch;
}

}  // namespace headroom
