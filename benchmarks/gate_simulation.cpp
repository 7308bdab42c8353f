// SPDX-License-Identifier: Apache-2.0
// How often the nightly gate errs on a step's time, with the noise that was measured on a machine:
//
//   gate_simulation NOISE.csv [HISTORIES]
//
// NOISE.csv has a line "case,step_time_median_ns" for each of many processes of unchanged code, one
// right after the other, as ci/noise writes it. A night takes a stretch of them at random, in turns
// for old and new, so that drifts and neighbours are in it as they were; a slow-down lengthens the
// new ones. Prints Markdown.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "src/report/history.h"
#include "src/report/statistics.h"
#include "src/report/time_gate.h"

namespace headroom {
namespace {

constexpr std::size_t kProcesses = 5;        // of old and of new a night, as ci/nightly has them
constexpr std::size_t kRerunProcesses = 15;  // of each where a case is suspect
constexpr int kNights = 200;
constexpr int kSettled = 30;  // nights before a slow-down comes
constexpr int kToFind = 2;    // nights to find it in

using Series = std::vector<double>;

std::map<std::string, Series> read_noise(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " can't be read");
  std::map<std::string, Series> noise;
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) {
    const std::size_t comma = line.rfind(',');
    noise[line.substr(0, comma)].push_back(std::stod(line.substr(comma + 1)));
  }
  return noise;
}

/// The nights of one case, one after the other.
class CaseNights {
 public:
  CaseNights(const Series& noise, std::mt19937_64& random) : noise_(noise), random_(random) {}

  /// The light of a night on which the new code takes `factor` times as long.
  Light night(double factor) {
    position_ = std::uniform_int_distribution<std::size_t>(0, noise_.size() - 1)(random_);
    TimeEvidence evidence{.old_ns = {}, .new_ns = {}, .past_ratios = past_};
    evidence.yellow_nights = yellow_nights_;
    take_turns(kProcesses, factor, evidence.old_ns, evidence.new_ns);
    if (is_suspect(evidence)) {
      ++reruns;
      take_turns(kRerunProcesses, factor, evidence.rerun_old_ns, evidence.rerun_new_ns);
    }
    const Light light = time_light(evidence);
    yellow_nights_ = light == Light::yellow ? yellow_nights_ + 1 : 0;
    if (light != Light::red) remember(ratio_of(evidence.old_ns, evidence.new_ns));
    return light;
  }

  long reruns = 0;

 private:
  void take_turns(std::size_t count, double factor, Series& old_ns, Series& new_ns) {
    for (std::size_t i = 0; i < count; ++i) {
      old_ns.push_back(next());
      new_ns.push_back(next() * factor);
    }
  }
  double next() { return noise_[position_++ % noise_.size()]; }
  void remember(double ratio) {
    if (past_.size() == static_cast<std::size_t>(History::kMostNights)) past_.erase(past_.begin());
    past_.push_back(ratio);
  }

  const Series& noise_;
  std::mt19937_64& random_;
  std::size_t position_ = 0;
  Series past_;
  int yellow_nights_ = 0;
};

/// What histories of unchanged code say: of how many nights, and how many were red or yellow, as
/// one of their cases was.
void simulate_quiet(const std::map<std::string, Series>& noise, int histories,
                    std::mt19937_64& random) {
  long nights = 0, red = 0, yellow = 0, reruns = 0;
  for (int history = 0; history < histories; ++history) {
    std::vector<CaseNights> cases;
    for (const auto& [name, series] : noise) cases.emplace_back(series, random);
    for (int night = 0; night < kNights; ++night, ++nights) {
      Light gravest = Light::green;
      for (CaseNights& one : cases) gravest = std::max(gravest, one.night(1.0));
      red += gravest == Light::red;
      yellow += gravest == Light::yellow;
    }
    for (const CaseNights& one : cases) reruns += one.reruns;
  }
  const auto share = [&](long count) {
    return static_cast<double>(count) / static_cast<double>(nights);
  };
  std::cout << fmt::format(
      "Unchanged code, {} histories of {} nights, {} cases: {} red nights ({:.3f} in 200), {:.2f} "
      "% "
      "yellow, {:.2f} reruns a night.\n\n",
      histories, kNights, noise.size(), red, 200 * share(red), 100 * share(yellow), share(reruns));
}

/// How many of so many slow-downs of a case are red within kToFind nights.
double found(const Series& series, double factor, int histories, std::mt19937_64& random) {
  int count = 0;
  for (int history = 0; history < histories; ++history) {
    CaseNights one(series, random);
    for (int night = 0; night < kSettled; ++night) one.night(1.0);
    bool is_found = false;
    for (int night = 0; night < kToFind; ++night) {
      is_found = is_found || one.night(factor) == Light::red;
    }
    count += is_found;
  }
  return static_cast<double>(count) / histories;
}

void simulate(const std::string& path, int histories) {
  const auto noise = read_noise(path);
  std::mt19937_64 random(123);
  simulate_quiet(noise, histories, random);
  std::cout << "| case | processes measured | spread | 3 % slower | 5 % slower | 10 % slower |\n"
               "| --- | ---: | ---: | ---: | ---: | ---: |\n";
  for (const auto& [name, series] : noise) {
    std::cout << fmt::format("| {} | {} | {:.2f} % |", name, series.size(),
                             148.26 * median_deviation(series) / median(series));
    for (const double factor : {1.03, 1.05, 1.10}) {
      std::cout << fmt::format(" {:.1f} % |", 100 * found(series, factor, histories, random));
    }
    std::cout << "\n";
  }
}

}  // namespace
}  // namespace headroom

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3)
    throw std::runtime_error("usage: gate_simulation NOISE.csv [HISTORIES]");
  headroom::simulate(argv[1], argc == 3 ? std::stoi(argv[2]) : 10'000);
} catch (const std::exception& error) {
  std::cerr << "gate_simulation: " << error.what() << "\n";
  return 1;
}
