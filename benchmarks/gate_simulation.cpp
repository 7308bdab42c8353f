// SPDX-License-Identifier: Apache-2.0
// How often the nightly gate errs, with the noise that was measured on a machine:
//
//   gate_simulation NOISE.csv [HISTORIES [PROCESSES]]
//
// NOISE.csv has a line "case,step_time_min_ns,run_peak_allocated_bytes" for each of many processes
// of unchanged code, one right after the other, as ci/noise writes it. A night takes a stretch of
// them at random, in turns for old and new, so that drifts and neighbours are in it as they were; a
// slow-down lengthens the new ones. Prints Markdown. Exit code 1: the gate errs more often than it
// is made for, which is one red night in 200 without a reason, 95 % of slow-downs by 5 % found
// within two nights, and no byte overlooked. PROCESSES: of a side, before a rerun; else as
// ci/nightly has them.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "src/compare/night.h"
#include "src/results/statistics.h"

namespace headroom {
namespace {

constexpr std::size_t kProcesses = 5;        // of old and of new a night, as ci/nightly has them
constexpr std::size_t kRerunProcesses = 10;  // of each in a round for what is suspect
constexpr int kRounds = 6;
constexpr int kNights = 200;
constexpr int kToFind = 2;  // nights to find it in
constexpr double kMaxFalseAlarms = 1.0 / 200;
constexpr double kLeastFound = 0.95;

struct Process {
  double time_ns = 0;
  double bytes = 0;
};
using Series = std::vector<Process>;

std::map<std::string, Series> read_noise(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " can't be read");
  std::map<std::string, Series> noise;
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) {
    const std::size_t second = line.rfind(',');
    const std::size_t first = line.rfind(',', second - 1);
    noise[line.substr(0, first)].push_back(
        {std::stod(line.substr(first + 1)), std::stod(line.substr(second + 1))});
  }
  if (noise.empty()) throw std::runtime_error(path + " has no processes");
  return noise;
}

/// The nights of one case, one after the other.
class CaseNights {
 public:
  CaseNights(const Series& noise, std::size_t processes, std::mt19937_64& random)
      : noise_(noise), processes_(processes), random_(random) {}

  /// The light of a night on which the new code takes `factor` times as long.
  Light night(double factor) {
    position_ = std::uniform_int_distribution<std::size_t>(0, noise_.size() - 1)(random_);
    TimeEvidence evidence{.old_ns = {}, .new_ns = {}, .yellow_nights = yellow_nights_};
    take_turns(processes_, factor, evidence.old_ns, evidence.new_ns);
    for (int round = 0; round < kRounds && needs_rerun(evidence); ++round) {
      ++reruns;
      take_turns(kRerunProcesses, factor, evidence.rerun_old_ns, evidence.rerun_new_ns);
    }
    const Light light = time_light(evidence);
    yellow_nights_ = light == Light::yellow ? yellow_nights_ + 1 : 0;
    return light;
  }

  long reruns = 0;  // rounds

 private:
  void take_turns(std::size_t count, double factor, std::vector<double>& old_ns,
                  std::vector<double>& new_ns) {
    for (std::size_t i = 0; i < count; ++i) {
      old_ns.push_back(next());
      new_ns.push_back(next() * factor);
    }
  }
  double next() { return noise_[position_++ % noise_.size()].time_ns; }

  const Series& noise_;
  std::size_t processes_;
  std::mt19937_64& random_;
  std::size_t position_ = 0;
  int yellow_nights_ = 0;
};

/// What histories of unchanged code say: of how many nights, and how many were red or yellow, as
/// one of their cases was. Returns the share of red ones.
double simulate_quiet(const std::map<std::string, Series>& noise, int histories,
                      std::size_t processes, std::mt19937_64& random) {
  long nights = 0, red = 0, yellow = 0, reruns = 0;
  for (int history = 0; history < histories; ++history) {
    std::vector<CaseNights> cases;
    for (const auto& [name, series] : noise) cases.emplace_back(series, processes, random);
    for (int night = 0; night < kNights; ++night, ++nights) {
      Light gravest = Light::green;
      for (CaseNights& each : cases) gravest = std::max(gravest, each.night(1.0));
      red += gravest == Light::red;
      yellow += gravest == Light::yellow;
    }
    for (const CaseNights& each : cases) reruns += each.reruns;
  }
  const auto share = [&](long count) {
    return static_cast<double>(count) / static_cast<double>(nights);
  };
  std::cout << fmt::format(
      "Unchanged code, {} histories of {} nights, {} cases: {} red nights ({:.3f} in 200), "
      "{:.2f} % yellow, {:.2f} rounds of reruns a night.\n\n",
      histories, kNights, noise.size(), red, 200 * share(red), 100 * share(yellow), share(reruns));
  return share(red);
}

/// How many of so many slow-downs of a case are red within kToFind nights.
double found(const Series& series, double factor, int histories, std::size_t processes,
             std::mt19937_64& random) {
  int count = 0;
  for (int history = 0; history < histories; ++history) {
    CaseNights one(series, processes, random);
    bool is_found = false;
    for (int night = 0; night < kToFind; ++night) {
      is_found = is_found || one.night(factor) == Light::red;
    }
    count += is_found;
  }
  return static_cast<double>(count) / histories;
}

/// How many of so many nights are red where the new code's peak is `more` bytes larger.
double found_bytes(const Series& series, double more, int nights, std::mt19937_64& random) {
  std::uniform_int_distribution<std::size_t> any(0, series.size() - 1);
  int count = 0;
  for (int night = 0; night < nights; ++night) {
    std::vector<CaseResult> runs(2 * kProcesses);
    Repeats sides[2];
    std::size_t position = any(random);
    for (std::size_t i = 0; i < runs.size(); ++i, ++position) {
      const double extra = i % 2 == 1 ? more : 0;
      runs[i].row["run_peak_allocated_bytes"] = series[position % series.size()].bytes + extra;
      sides[i % 2].runs.push_back(&runs[i]);
    }
    count += figure_changes(sides[0], sides[1]).front().trend == Trend::worse;
  }
  return static_cast<double>(count) / nights;
}

/// Whether the gate errs as seldom as it should.
bool simulate(const std::string& path, int histories, std::size_t processes) {
  const auto noise = read_noise(path);
  std::mt19937_64 random(123);
  bool is_good = simulate_quiet(noise, histories, processes, random) <= kMaxFalseAlarms;
  std::cout << "| case | processes | spread | 3 % slower | 5 % slower | 10 % slower | same bytes | "
               "1 MiB more |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const auto& [name, series] : noise) {
    std::vector<double> times;
    for (const Process& process : series) times.push_back(process.time_ns);
    const double three = found(series, 1.03, histories, processes, random);
    const double five = found(series, 1.05, histories, processes, random);
    const double ten = found(series, 1.10, histories, processes, random);
    const double same = found_bytes(series, 0, histories, random);
    const double more = found_bytes(series, 1 << 20, histories, random);
    std::cout << fmt::format(
        "| {} | {} | {:.2f} % | {:.1f} % | {:.1f} % | {:.1f} % | {:.1f} % | {:.1f} % |\n", name,
        series.size(), 148.26 * median_deviation(times) / median(times), 100 * three, 100 * five,
        100 * ten, 100 * same, 100 * more);
    is_good = is_good && five >= kLeastFound && same == 0 && more == 1;
  }
  return is_good;
}

}  // namespace
}  // namespace headroom

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 4)
    throw std::runtime_error("usage: gate_simulation NOISE.csv [HISTORIES [PROCESSES]]");
  const int histories = argc > 2 ? std::stoi(argv[2]) : 10'000;
  const std::size_t processes = argc > 3 ? std::stoul(argv[3]) : headroom::kProcesses;
  return headroom::simulate(argv[1], histories, processes) ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "gate_simulation: " << error.what() << "\n";
  return 1;
}
