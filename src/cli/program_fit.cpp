// SPDX-License-Identifier: Apache-2.0
#include "src/cli/program_fit.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "src/cli/command_line.h"
#include "src/cli/output.h"
#include "src/cli/process_table.h"
#include "src/core/error.h"
#include "src/core/json.h"
#include "src/core/text.h"
#include "src/gpus/gpu.h"
#include "src/programs/single_plan.h"
#include "src/runner/fit_search.h"
#include "src/suite/schema.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kStepTimes = {"step_time_estimate_ns", "step_time_estimate_lower_ns",
                                   "step_time_estimate_upper_ns"};

/// {"fits", "driver_peak_bytes", "total_bytes"}, of the process that takes most, "fits_closely" if
/// it does, and what a step of it takes where it fits and has two. Throws NoPlan.
Json plan_once(const ProgramFit& fit, const std::vector<std::string>& words,
               const DryRun& dry_run) {
  const SinglePlan plan = plan_once(words, dry_run, fit.played, &say);
  Json told{{"fits", plan.fits},
            {"driver_peak_bytes", plan.largest.at("driver_peak_bytes")},
            {"total_bytes", plan.largest.at("total_bytes")}};
  if (plan.largest.contains("fits_closely")) told["fits_closely"] = true;
  for (const char* name : kStepTimes) {
    if (plan.fits && plan.largest.contains(name)) told[name] = plan.largest.at(name);
  }
  return told;
}

/// Empty: it has none.
std::string step_time_in(const Json& plan, const char* name = kStepTimes.front()) {
  return plan.contains(name) ? milliseconds_in(plan, name) : "";
}

std::string text_of(const Json& plan) {
  if (plan.at("fits") == true) {
    const std::string step = step_time_in(plan);
    return (plan.contains("fits_closely") ? "fits closely, " : "fits, ") +
           bytes_in(plan, "driver_peak_bytes") + " of " + bytes_in(plan, "total_bytes") +
           (step.empty() ? "" : ", " + step + " a step");
  }
  if (!plan.contains("missing_bytes")) return "does not fit";
  return "misses by " + bytes_in(plan, "missing_bytes");
}

/// Also by how much it misses, where it does not fit.
Json plan_on(const ProgramFit& fit, DryRun dry_run) {
  Json plan = plan_once(fit, fit.words, dry_run);
  if (plan.at("fits") == true) return plan;
  dry_run.overcommit = true;
  const Json unlimited = plan_once(fit, fit.words, dry_run);
  const auto peak = unlimited.at("driver_peak_bytes").get<std::int64_t>();
  plan["driver_peak_bytes"] = peak;
  plan["missing_bytes"] =
      std::max(std::int64_t{0}, peak - plan.at("total_bytes").get<std::int64_t>());
  return plan;
}

/// The values of one variation, each planned once.
class Search {
 public:
  Search(const ProgramFit& fit, const Variation& variation) : fit_(fit), variation_(variation) {}

  bool fits(std::int64_t value) {
    const std::string text = std::to_string(value);
    setenv(variation_.name.c_str(), text.c_str(), /*replace=*/1);
    Json plan = plan_once(fit_, with_value(fit_.words, variation_.name, text), fit_.dry_run);
    say(variation_.name + "=" + text + ": " + text_of(plan));
    const bool fits = plan.at("fits") == true;
    plans_.push_back(Json{{"value", value}});
    plans_.back().update(plan);
    return fits;
  }

  const std::vector<Json>& plans() const { return plans_; }

  std::optional<Json> plan_of(std::int64_t value) const {
    const auto found =
        std::ranges::find_if(plans_, [&](const Json& plan) { return plan.at("value") == value; });
    return found == plans_.end() ? std::nullopt : std::optional(*found);
  }

 private:
  const ProgramFit& fit_;
  const Variation& variation_;
  std::vector<Json> plans_;
};

int search_largest(const ProgramFit& fit, const Variation& variation) {
  Search search(fit, variation);
  Json largest;  // null: none
  if (search.fits(variation.first)) {
    largest = largest_fitting(variation.first, variation.last,
                              [&](std::int64_t value) { return search.fits(value); });
  }
  if (fit.json) {
    print(json_text({{"gpu", fit.dry_run.gpu},
                     {"vary", variation.name},
                     {"largest", largest},
                     {"plans", search.plans()}}));
  } else if (largest.is_null()) {
    print("nothing fits: " + variation.name + "=" + std::to_string(variation.first) +
          " is too much for " + fit.dry_run.gpu + "\n");
  } else {
    const auto value = largest.get<std::int64_t>();
    const std::string end = value == variation.last ? "the end of what was asked"
                                                    : std::to_string(value + 1) + " does not fit";
    print(variation.name + "=" + std::to_string(value) + " on " + fit.dry_run.gpu + ": " +
          text_of(*search.plan_of(value)) + "; " + end + "\n");
  }
  return largest.is_null() ? kFailed : 0;
}

int plan_gpus(const ProgramFit& fit) {
  std::vector<Json> plans;
  std::vector<std::vector<std::string>> lines;
  for (const std::string& gpu : dry_run::gpu_names()) {
    DryRun dry_run = fit.dry_run;
    dry_run.gpu = gpu;
    Json plan{{"gpu", gpu}};
    plan.update(plan_on(fit, dry_run));
    say(gpu + ": " + text_of(plan));
    const bool fits = plan.at("fits") == true;
    const char* how = plan.contains("fits_closely") ? "closely" : "yes";
    lines.push_back({gpu, fits ? how : "no", bytes_in(plan, "driver_peak_bytes"),
                     bytes_in(plan, "total_bytes"), fits ? "" : bytes_in(plan, "missing_bytes")});
    for (const char* name : kStepTimes) lines.back().push_back(step_time_in(plan, name));
    plans.push_back(std::move(plan));
  }
  if (fit.json) {
    print(json_text({{"gpus", plans}}));
  } else {
    print(format_table({"gpu", "fits", "driver", "of", "missing", "a step", "from", "to"}, lines,
                       {"driver", "of", "missing", "a step", "from", "to"}));
  }
  const auto fits = [](const Json& plan) { return plan.at("fits") == true; };
  return std::ranges::any_of(plans, fits) ? 0 : kFailed;
}

/// "1..512".
std::optional<std::pair<std::int64_t, std::int64_t>> range_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const auto first = parse_integer(text.substr(0, dots));
  const auto last = parse_integer(text.substr(dots + 2));
  const bool is_range = first && last && 1 <= *first && *first <= *last && *last <= 1 << 30;
  return is_range ? std::optional(std::pair(*first, *last)) : std::nullopt;
}

std::string ranks_on(const Json& plan, const std::string& gpu) {
  const auto ranks = plan.at("value").get<std::int64_t>();
  return std::to_string(ranks) + (ranks == 1 ? " rank on " : " ranks on ") + gpu;
}

int search_ranks(const std::function<ProgramFit(std::int64_t)>& with_ranks,
                 const Variation& ranks) {
  std::vector<Json> plans;
  bool has_fit = false;
  ProgramFit fit;
  for (std::int64_t count = ranks.first; !has_fit && count <= ranks.last; count *= 2) {
    fit = with_ranks(count);
    Search search(fit, ranks);
    has_fit = search.fits(count);
    plans.push_back(search.plans().front());
  }
  const Json fewest = has_fit ? plans.back().at("value") : Json();
  if (fit.json) {
    print(json_text({{"gpu", fit.dry_run.gpu}, {"ranks", fewest}, {"plans", plans}}));
  } else if (has_fit) {
    print(ranks_on(plans.back(), fit.dry_run.gpu) + ": each " + text_of(plans.back()) +
          (plans.size() > 1 ? "; with half as many it does not" : "") + "\n");
  } else {
    print("nothing fits: too few are " + ranks_on(plans.back(), fit.dry_run.gpu) + "\n");
  }
  return has_fit ? 0 : kFailed;
}

}  // namespace

Variation read_variation(const std::string& text) {
  const std::size_t sign = text.find('=');
  const std::string name = text.substr(0, sign);
  const bool is_variable = is_name(name) && name.find_first_of(".-") == std::string::npos;
  const auto range = sign == std::string::npos ? std::nullopt : range_of(text.substr(sign + 1));
  if (is_variable && range) return {name, range->first, range->second};
  throw ConfigError("--vary: '" + text +
                    "': allowed is NAME=FIRST..LAST, as in BATCH=1..512, of whole numbers from 1");
}

Variation read_rank_range(const std::string& text) {
  if (const auto range = range_of(text)) return {"RANKS", range->first, range->second};
  throw ConfigError("--ranks: '" + text +
                    "': allowed is a number, or FIRST..LAST, as in 1..64, of whole numbers from 1");
}

std::vector<std::string> with_value(std::vector<std::string> words, const std::string& name,
                                    const std::string& value) {
  const std::string mark = "{" + name + "}";
  for (std::string& word : words) {
    for (std::size_t at = word.find(mark); at != std::string::npos;
         at = word.find(mark, at + value.size())) {
      word.replace(at, mark.size(), value);
    }
  }
  return words;
}

int fit_largest(const ProgramFit& fit, const Variation& variation) {
  try {
    return search_largest(fit, variation);
  } catch (const NoPlan& none) {
    return none.exit_code;
  }
}

int fit_ranks(const std::function<ProgramFit(std::int64_t)>& with_ranks, const Variation& ranks) {
  try {
    return search_ranks(with_ranks, ranks);
  } catch (const NoPlan& none) {
    return none.exit_code;
  }
}

int fit_gpus(const ProgramFit& fit) {
  try {
    return plan_gpus(fit);
  } catch (const NoPlan& none) {
    return none.exit_code;
  }
}

}  // namespace headroom
