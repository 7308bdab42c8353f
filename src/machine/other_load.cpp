// SPDX-License-Identifier: Apache-2.0
#include "src/machine/other_load.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <system_error>

#include "src/machine/same_program.h"

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

}  // namespace

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

}  // namespace headroom
