// SPDX-License-Identifier: Apache-2.0
#include "src/machine/processes.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace headroom {
namespace {

double ticks_in_a_second() { return static_cast<double>(sysconf(_SC_CLK_TCK)); }

/// The numbers that a name in /proc is: a process, or a thread of one.
std::vector<pid_t> numbers_in(const char* folder) {
  std::vector<pid_t> numbers;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    pid_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

/// The cores of all threads: OpenMP may have bound this one to one of them.
std::vector<int> usable_cores() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const pid_t thread : numbers_in("/proc/self/task")) {
    cpu_set_t cores;
    if (sched_getaffinity(thread, sizeof cores, &cores) == 0) CPU_OR(&all, &all, &cores);
  }
  std::vector<int> list;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &all)) list.push_back(core);
  }
  return list;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double own_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// What a process has used so far: the 14th and 15th word of its line, the 2nd of which may hold
/// anything, in parentheses.
double seconds_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  std::string skipped;
  for (int i = 0; i < 11; ++i) words >> skipped;
  double user = 0;
  double system = 0;
  words >> user >> system;
  return (user + system) / ticks_in_a_second();
}

double seconds_of_this_program() {
  double sum = 0;
  for (const pid_t process : numbers_in("/proc")) {
    if (runs_this_program(process)) sum += seconds_of(process);
  }
  return sum;
}

/// The number behind `key` in a file of "Key:  123 kB" lines, in bytes.
std::optional<std::int64_t> kib_field(const char* path, std::string_view key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::int64_t kib = 0;
    if (word == key && file >> kib) return kib * 1024;
  }
  return std::nullopt;
}

std::optional<std::int64_t> number_in(const char* path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;  // no such file, or "max"
}

/// What the control group (v2, then v1) still allows.
std::optional<std::int64_t> available_in_control_group() {
  struct Files {
    const char* limit;
    const char* used;
  };
  for (const Files& files : {Files{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
                             Files{"/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                   "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}) {
    const auto limit = number_in(files.limit);
    const auto used = number_in(files.used);
    if (limit && used) return std::max<std::int64_t>(0, *limit - *used);
  }
  return std::nullopt;
}

}  // namespace

bool runs_this_program(pid_t process) {
  std::error_code none;
  return std::filesystem::equivalent("/proc/" + std::to_string(process) + "/exe", "/proc/self/exe",
                                     none);
}

OtherLoad::OtherLoad(bool alone)
    : alone_(alone),
      cores_(usable_cores()),
      start_(std::chrono::steady_clock::now()),
      first_(read()) {}

OtherLoad::Reading OtherLoad::read() const {
  enum Field { user, nice, system, idle, waiting, interrupts, soft_interrupts, stolen, count };
  Reading sum;
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (!name.starts_with("cpu") || name == "cpu") continue;
    if (std::ranges::count(cores_, std::stoi(name.substr(3))) == 0) continue;
    std::array<double, count> ticks{};
    for (double& field : ticks) words >> field;
    const double all = std::accumulate(ticks.begin(), ticks.end(), 0.0);
    sum.total += all / ticks_in_a_second();
    sum.busy += (all - ticks[idle] - ticks[waiting]) / ticks_in_a_second();
  }
  sum.own = alone_ ? own_seconds() : seconds_of_this_program();
  return sum;
}

std::optional<double> OtherLoad::percent() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  const Reading now = read();
  const double available = elapsed.count() * static_cast<double>(cores_.size());
  if (now.total <= first_.total || available <= 0) return std::nullopt;
  const double others = now.busy - first_.busy - (now.own - first_.own);
  return std::clamp(100 * others / available, 0.0, 100.0);
}

std::optional<std::int64_t> host_peak_bytes() { return kib_field("/proc/self/status", "VmHWM:"); }

std::optional<std::int64_t> available_host_bytes() {
  const auto system = kib_field("/proc/meminfo", "MemAvailable:");
  const auto group = available_in_control_group();
  if (system && group) return std::min(*system, *group);
  return system ? system : group;
}

std::int64_t limit_host_memory(std::int64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) {
    throw std::system_error(errno, std::generic_category(), "getrlimit(RLIMIT_DATA)");
  }
  // The limit counts what is mapped already, so that comes on top.
  const std::int64_t mapped = kib_field("/proc/self/status", "VmData:").value_or(0);
  limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(mapped + bytes));
  if (setrlimit(RLIMIT_DATA, &limit) != 0) {
    throw std::system_error(errno, std::generic_category(), "setrlimit(RLIMIT_DATA)");
  }
  return static_cast<std::int64_t>(limit.rlim_cur);
}

}  // namespace headroom
