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
/// Of the time in which the device waits for the host.
constexpr double kDoubtOfHost = 0.5;
/// What a step may take longer for what a plan does not see, as loading, logging and hosts that are
/// slower: with it 12 of 14 trainings of one source are inside (docs/time.md).
constexpr double kUnseen = 0.25;

}  // namespace

std::optional<StepTime> step_time_of(const Json& report) {
  if (!report.contains("steps_ns")) return std::nullopt;
  const auto steps = report.at("timed_steps").get<std::int64_t>();
  const auto all = report.at("steps_ns").get<double>();
  double busy = 0;
  double doubt = 0;
  for (const Doubt& kind : kDoubts) {
    const auto ns = report.at(kind.name).get<double>();
    busy += ns;
    doubt += kind.part * ns;
  }
  // Streams that run beside each other are busy for longer than the steps last.
  const double counted = std::max(all, busy);
  if (counted <= 0) return std::nullopt;
  doubt = (doubt + kDoubtOfHost * (counted - busy)) / counted;
  const double step = all / static_cast<double>(steps);
  return StepTime{static_cast<std::int64_t>(step), static_cast<std::int64_t>(step / (1 + doubt)),
                  static_cast<std::int64_t>(step * (1 + doubt) * (1 + kUnseen))};
}

void add_step_time(Json& into, const StepTime& step) {
  into[column::step_time_estimate_ns] = step.estimate_ns;
  into[column::step_time_estimate_lower_ns] = step.lower_ns;
  into[column::step_time_estimate_upper_ns] = step.upper_ns;
}

}  // namespace headroom
