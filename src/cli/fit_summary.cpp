// SPDX-License-Identifier: Apache-2.0
#include "src/cli/fit_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/core/text.h"
#include "src/runner/fit_search.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

std::string milliseconds(const FitPlan& plan) {
  if (!plan.step_time) return "";
  return fmt::format("{:.2f} ms", static_cast<double>(plan.step_time->estimate_ns) / 1e6);
}

std::string changes(const FitStack& stack) {
  return stack.changes.empty() ? "same" : stack.changes;
}

std::string of_each_rank(const FitReport& report) {
  return report.ranks > 1 ? " of each rank" : "";
}

/// "the largest micro-batch that fits is 3: 4 misses by 200.00 MiB".
std::string largest(const FitAnswer& answer) {
  const std::int64_t n = answer.largest_micro_batch;
  const std::string text = fmt::format("the largest micro-batch that fits is {}", n);
  if (!answer.one_more) return text + ", the most that was tried";
  return text + fmt::format(": {} ", n + 1) + describe(*answer.one_more);
}

std::vector<std::string> answer_lines(const FitReport& report) {
  const FitAnswer& answer = report.answer;
  const FitStack& stack = report.stacks[answer.stack];
  const std::string gpus = report.ranks > 1 ? fmt::format("{} x ", report.ranks) : "";
  std::vector<std::string> lines = {
      fmt::format("{} on {}{} with {}: {}, {}{}", report.subject, gpus, report.gpu,
                  format_bytes(report.memory_bytes), stack.name, describe(answer.size),
                  of_each_rank(report)),
      "the driver's peak is " + format_bytes(answer.plan.driver_peak_bytes) + "; " +
          largest(answer)};
  if (report.mixes_samples && answer.size.micro_batches > 1) {
    lines.emplace_back(
        "the model normalises each micro-batch by itself: its loss is not that of the batch at "
        "once");
  }
  return lines;
}

Json plan_to_json(const FitPlan& plan) {
  Json json{{"status", enum_name(plan.status)}};
  if (!plan.reason.empty()) json["reason"] = plan.reason;
  if (plan.driver_peak_bytes > 0) json["driver_peak_bytes"] = plan.driver_peak_bytes;
  if (plan.missing_bytes > 0) json["missing_bytes"] = plan.missing_bytes;
  if (plan.step_time) add_step_time(json, *plan.step_time);
  return json;
}

Json stack_to_json(const FitStack& stack, FitSize size) {
  return {{"stack", stack.name},
          {"techniques", stack.techniques},
          {"changes", stack.changes},
          {"batch_size", size.batch_size},
          {"micro_batches", size.micro_batches}};
}

}  // namespace

std::string format_fit(const FitReport& report) {
  std::string text;
  for (const std::string& line : answer_lines(report)) text += line + "\n";
  const std::vector<bool> listed = unbeaten(report.stacks, report.trials);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < report.trials.size(); ++i) {
    const FitTrial& trial = report.trials[i];
    const bool is_answer = trial.stack == report.answer.stack;
    if (!listed[i] && !is_answer) continue;
    const FitStack& stack = report.stacks[trial.stack];
    rows.push_back({is_answer ? "the answer" : "", stack.name,
                    fmt::format("{}", trial.size.micro_batch()), changes(stack),
                    format_bytes(trial.plan.driver_peak_bytes), milliseconds(trial.plan),
                    trial.plan.fits() ? "yes" : "no"});
  }
  text += fmt::format(
      "\nStacks that no other one beats, by memory, time, host link and what is computed.\n"
      "'about' is an estimate of an update of {} samples{} (docs/time.md); that an\n"
      "offloaded optimizer waits for the host's arithmetic is not in it.\n",
      report.answer.size.batch_size, of_each_rank(report));
  text += format_table({"", "stack", "micro-batch", "computes", "driver", "about", "fits"}, rows,
                       {"micro-batch", "driver", "about"});
  return text + report.file + "\n";
}

Json fit_to_json(const FitReport& report) {
  const FitAnswer& answer = report.answer;
  Json result{{"subject", report.subject},
              {"gpu", report.gpu},
              {"ranks", report.ranks},
              {"memory_bytes", report.memory_bytes},
              {"file", report.file}};
  Json& found = result["answer"] = stack_to_json(report.stacks[answer.stack], answer.size);
  found.update(plan_to_json(answer.plan));
  found["largest_micro_batch"] = answer.largest_micro_batch;
  if (answer.one_more) found["one_more"] = plan_to_json(*answer.one_more);
  const std::vector<bool> listed = unbeaten(report.stacks, report.trials);
  result["trials"] = Json::array();
  for (std::size_t i = 0; i < report.trials.size(); ++i) {
    const FitTrial& trial = report.trials[i];
    Json entry = stack_to_json(report.stacks[trial.stack], trial.size);
    entry.update(plan_to_json(trial.plan));
    entry["unbeaten"] = static_cast<bool>(listed[i]);
    result["trials"].push_back(entry);
  }
  return result;
}

std::string fit_comment(const FitReport& report) {
  std::string text = "# Found by headroom fit.\n";
  for (const std::string& line : answer_lines(report)) text += "# " + line + "\n";
  return text;
}

}  // namespace headroom
