// SPDX-License-Identifier: Apache-2.0
#include "src/runner/step_time.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "src/results/columns.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// How far the time of each kind of work may be off, as a part of it: what nine tenths of measured
/// products are within (docs/time.md), and more where less is known.
struct Doubt {
  const char* name;
  double part;
};
constexpr std::array kDoubts{Doubt{"steps_product_ns", 0.17}, Doubt{"steps_attention_ns", 0.4},
                             Doubt{"steps_memory_ns", 0.25}, Doubt{"steps_host_link_ns", 0.2},
                             Doubt{"steps_peer_link_ns", 0.3}};
/// What a step may take longer for what a plan does not see, as loading and logging: with it 12 of
/// 14 trainings of one source are inside (docs/time.md).
constexpr double kUnseen = 0.25;

}  // namespace

std::optional<StepTime> step_time_of(const Json& report) {
  if (!report.contains("steps_ns")) return std::nullopt;
  double busy = 0;
  double doubt = 0;
  for (const Doubt& kind : kDoubts) {
    const auto ns = report.at(kind.name).get<double>();
    busy += ns;
    doubt += kind.part * ns;
  }
  const auto all = report.at("steps_ns").get<double>();
  if (std::max(all, busy) <= 0) return std::nullopt;
  // Streams that run beside each other are busy for longer than the steps last.
  const auto doubtful = [&](double ns) { return 1 + doubt / std::max(ns, busy); };
  const auto fast = report.at("steps_fast_host_ns").get<double>();
  const auto slow = report.at("steps_slow_host_ns").get<double>();
  const auto of_a_step = [&](double ns) {
    return static_cast<std::int64_t>(ns / report.at("timed_steps").get<double>());
  };
  return StepTime{of_a_step(all), of_a_step(fast / doubtful(fast)),
                  of_a_step(slow * doubtful(slow) * (1 + kUnseen))};
}

void add_step_time(Json& into, const StepTime& step) {
  into[column::step_time_estimate_ns] = step.estimate_ns;
  into[column::step_time_estimate_lower_ns] = step.lower_ns;
  into[column::step_time_estimate_upper_ns] = step.upper_ns;
}

}  // namespace headroom
