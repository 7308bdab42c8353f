// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/ranks.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "src/core/scratch_folder.h"
#include "src/memory/saved_tensors.h"

namespace headroom {
namespace {

constexpr const char* kRank = "--rank";  // and behind it: rank, ranks, store, work, size, turns

/// The ranks but the first: this program again.
class OtherRanks {
 public:
  OtherRanks(std::int64_t ranks, const std::string& store, const std::string& work,
             std::int64_t size, std::int64_t turns) {
    for (std::int64_t rank = 1; rank < ranks; ++rank) {
      start({"ranks_benchmark", kRank, std::to_string(rank), std::to_string(ranks), store, work,
             std::to_string(size), std::to_string(turns)});
    }
  }
  ~OtherRanks() {
    for (const pid_t process : processes_) waitpid(process, nullptr, 0);
  }
  OtherRanks(const OtherRanks&) = delete;
  OtherRanks& operator=(const OtherRanks&) = delete;

 private:
  void start(std::vector<std::string> arguments) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    pid_t process = 0;
    if (posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, pointers.data(), environ) != 0) {
      throw std::runtime_error("a rank can't be started");
    }
    processes_.push_back(process);
  }

  std::vector<pid_t> processes_;
};

/// One rank's parts, and how it waits for the others.
class Rank {
 public:
  Rank(const RankedWork& work, const Membership& first, std::int64_t size)
      : meetings_(first),
        group_(meetings_.next(), at::kCPU, CollectiveBackend::gloo),
        parts_(work.make(meetings_, size)) {}

  std::size_t parts() const { return parts_.size(); }

  /// Seconds of each part.
  std::vector<double> turn() {
    std::vector<double> seconds(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::size_t part = (turns_ + i) % parts_.size();
      meet();
      const auto start = std::chrono::steady_clock::now();
      parts_[part]();
      seconds[part] =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    ++turns_;
    return seconds;
  }

  void meet() {
    at::Tensor nothing = at::zeros({1});
    group_.sum(nothing);
  }

 private:
  Meetings meetings_;
  ProcessGroup group_;
  std::vector<Part> parts_;
  std::size_t turns_ = 0;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

int run_other_rank(char** arguments, std::span<const RankedWork> works) {
  const std::string name = arguments[3];
  const auto work = std::find_if(works.begin(), works.end(),
                                 [&](const RankedWork& each) { return name == each.name; });
  Rank rank(*work, {std::stoll(arguments[0]), std::stoll(arguments[1]), arguments[2]},
            std::stoll(arguments[4]));
  for (std::int64_t turns = std::stoll(arguments[5]); turns > 0; --turns) rank.turn();
  rank.meet();
  return 0;
}

}  // namespace

Membership Meetings::next() {
  Membership next = first_;
  next.store += std::to_string(count_++);
  return next;
}

void run_on_ranks(benchmark::State& state, const RankedWork& work) {
  const std::int64_t ranks = state.range(0);
  const std::int64_t size = state.range(1);
  const ScratchFolder folder;
  const std::string store = folder.path() / "store";
  const auto turns = static_cast<std::int64_t>(state.max_iterations) + 1;
  const OtherRanks others(ranks, store, work.name, size, turns);
  Rank rank(work, {0, ranks, store}, size);
  rank.turn();  // makes optimizers' state, buckets and connections
  std::vector<std::vector<double>> samples(rank.parts());
  for (auto _ : state) {
    const std::vector<double> seconds = rank.turn();
    state.SetIterationTime(seconds.front());
    for (std::size_t part = 0; part < seconds.size(); ++part) {
      samples[part].push_back(seconds[part]);
    }
  }
  rank.meet();  // a group must not go while others still use it
  std::vector<double> medians;
  for (const auto& each : samples) medians.push_back(median(each));
  work.report(state, ranks, size, medians);
}

int ranks_main(int count, char** arguments, std::span<const RankedWork> works) {
  at::set_num_threads(1);
  install_saved_tensor_hooks();
  if (count == 8 && std::strcmp(arguments[1], kRank) == 0) {
    return run_other_rank(arguments + 2, works);
  }
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace headroom
