// SPDX-License-Identifier: Apache-2.0
#include "src/cli/process_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "src/core/text.h"
#include "src/programs/program_report.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// Whether it began PyTorch's peaks anew, behind the largest.
bool has_begun_anew(const Json& process) {
  return process.contains("latest_peak_allocated_bytes") &&
         process.at("latest_peak_allocated_bytes") != process.at("peak_allocated_bytes");
}

/// What its peaks depend on that nobody knows, joined by "and"; empty: on nothing.
std::string causes_of_bounds(const Json& process) {
  std::string causes;
  const auto add = [&](const char* name, const char* cause) {
    if (process.at(name)) causes += (causes.empty() ? "" : ", and ") + std::string(cause);
  };
  add("reserved_depends_on_host", "how far the host runs ahead of the GPU");
  add("reserved_depends_on_layouts",
      "which convolutions work on copies of their tensors with the channels last");
  add("reserved_depends_on_engines", "which of cuDNN's engines it keeps of those that it tries");
  return causes;
}

std::vector<std::string> notes_on_bounds(const Json& process) {
  const std::string causes = causes_of_bounds(process);
  if (causes.empty()) return {};
  if (!process.contains("peak_reserved_upper_bytes")) {
    return {"reserved may depend on " + causes + ": its bounds are not known"};
  }
  std::vector<std::string> notes;
  const auto add = [&](const std::string& peak, const std::string& what) {
    if (!process.contains(peak + "_lower_bytes")) return;
    const std::string lower = bytes_in(process, (peak + "_lower_bytes").c_str());
    const std::string upper = bytes_in(process, (peak + "_upper_bytes").c_str());
    if (lower == upper) return;
    notes.push_back(what + " from " + lower + " to " + upper + ", by " + causes);
  };
  add("peak_allocated", "allocated is");
  add("peak_reserved", "reserved is");
  if (has_begun_anew(process)) {
    add("latest_peak_allocated", "allocated since the peaks began anew is");
    add("latest_peak_reserved", "reserved since the peaks began anew is");
  }
  return notes;
}

/// Notes on one process, a line each.
std::vector<std::string> notes_on(const Json& process) {
  std::vector<std::string> notes;
  if (process.contains("refused_bytes")) {
    notes.push_back("out of memory: " + bytes_in(process, "refused_bytes") + " more were wanted, " +
                    bytes_in(process, "free_when_refused_bytes") + " were free" +
                    (process.at("fits") ? "; the program went on" : ""));
  }
  if (process.contains("fits_closely")) {
    notes.emplace_back(
        "it fits closely: of trainings that were planned to leave as little to their tensors most "
        "ran out of memory (docs/programs.md)");
  }
  if (process.contains("without_end")) {
    const std::string missing = ": " + bytes_in(process, "missing_bytes") + " are missing";
    notes.push_back("with memory without end it takes " +
                    bytes_in(process["without_end"], "driver_peak_bytes") +
                    (process.at("missing_bytes") > 0 ? missing : ""));
  }
  if (has_begun_anew(process)) {
    notes.push_back("the program began PyTorch's peaks anew; since then PyTorch counts " +
                    bytes_in(process, "latest_peak_allocated_bytes") + " allocated, " +
                    bytes_in(process, "latest_peak_reserved_bytes") + " reserved");
  }
  if (!process.at("ended_by_itself")) {
    notes.emplace_back(
        "a process was ended by a signal, _exit() or exec: what it took up to there");
  }
  if (process.contains("step_time_estimate_ns")) {
    notes.push_back("a step takes about " + milliseconds_in(process, "step_time_estimate_ns") +
                    ", from " + milliseconds_in(process, "step_time_estimate_lower_ns") + " to " +
                    milliseconds_in(process, "step_time_estimate_upper_ns") +
                    ", by the rates that such GPUs achieve (docs/time.md)");
  } else if (process.at("fits") && process.at("ended_by_itself")) {
    notes.emplace_back(
        "no step is timed: that takes two steps of an optimizer of torch.optim (docs/time.md)");
  }
  for (const std::string& note : notes_on_bounds(process)) notes.push_back(note);
  if (process.contains("peak_managed_bytes")) {
    notes.push_back("managed memory is in no figure: " + bytes_in(process, "peak_managed_bytes") +
                    ", which move between host and device");
  }
  constexpr std::int64_t kOfFewShapes = 8;
  if (const auto kernels = process.value("attention_kernels", std::int64_t{0});
      kernels > kOfFewShapes) {
    notes.push_back("cuDNN compiled " + std::to_string(kernels) +
                    " kernels of attention, two for each shape that is trained, and the host waits "
                    "for each: batches of few lengths need fewer (docs/time.md)");
  }
  if (process.contains("nccl_bytes")) {
    notes.push_back("of the driver's figure NCCL's own buffers are " +
                    bytes_in(process, "nccl_bytes") + ", by the links of such GPUs");
  }
  if (process.contains("estimated")) {
    notes.push_back("work areas that only NVIDIA's libraries know are estimated: " +
                    process["estimated"].get<std::string>());
  }
  if (const auto values = process.at("values_read").get<std::int64_t>(); values > 0) {
    notes.push_back("values that were read from the device and that nobody computed here: " +
                    std::to_string(values) +
                    ", zeros, ones for losses and norms, equal probabilities, what stood there "
                    "before, or that all of something holds or is kept. Where they steer the "
                    "program, this is that path's plan");
  }
  return notes;
}

std::string number_text(const Json& process, const char* name) {
  return std::to_string(process.at(name).get<std::int64_t>());
}

/// The same note on several processes is one line, behind those it is on.
std::string notes_on(const std::vector<Json>& processes) {
  std::vector<std::pair<std::string, std::string>> labels_by_note;
  for (const Json& process : processes) {
    for (const std::string& note : notes_on(process)) {
      const auto same = [&](const auto& entry) { return entry.first == note; };
      const auto found = std::find_if(labels_by_note.begin(), labels_by_note.end(), same);
      if (found == labels_by_note.end()) {
        labels_by_note.emplace_back(note, label_of(process));
      } else {
        found->second += ", " + label_of(process);
      }
    }
  }
  std::string text;
  for (const auto& [note, labels] : labels_by_note) {
    text += (processes.size() > 1 ? labels + ": " : "") + note + "\n";
  }
  return text;
}

/// Where they are of a pipeline, and not of each of its stages.
std::string missing_stages_of(const std::vector<Json>& processes) {
  std::set<std::int64_t> seen;
  std::int64_t stages = 0;
  for (const Json& process : processes) {
    if (!process.contains("stages")) continue;
    seen.insert(process.at("stage").get<std::int64_t>());
    stages = std::max(stages, process.at("stages").get<std::int64_t>());
  }
  if (std::ssize(seen) >= stages) return "";
  std::string list;
  for (const std::int64_t stage : seen) list += (list.empty() ? "" : ", ") + std::to_string(stage);
  return "of a pipeline of " + std::to_string(stages) + " stages this is " + list +
         "; others may take more: --rank all plans one of each\n";
}

std::string largest_of(const std::vector<Json>& processes) {
  const auto most = std::max_element(processes.begin(), processes.end(), &takes_less);
  const auto is_less = [&](const Json& process) { return takes_less(process, *most); };
  if (std::none_of(processes.begin(), processes.end(), is_less)) return "each takes as much\n";
  return "the largest is " + label_of(*most) + "\n";
}

/// At which share of its launches one of its peaks last grew: near the end, more steps may take
/// more.
std::string last_grown(const Json& process) {
  const auto launches = process.value("launches", std::int64_t{0});
  if (launches == 0 || !process.contains("launches_when_grown")) return "";
  const auto when = process["launches_when_grown"].get<std::int64_t>();
  return std::to_string(100 * when / launches) + " %";
}

std::vector<std::string> line_of(const Json& process) {
  return {process.at("gpu").get<std::string>(),      process.at("fits") ? "yes" : "no",
          bytes_in(process, "peak_allocated_bytes"), bytes_in(process, "peak_reserved_bytes"),
          bytes_in(process, "driver_peak_bytes"),    bytes_in(process, "total_bytes"),
          bytes_in(process, "peak_pinned_bytes"),    last_grown(process)};
}

}  // namespace

std::string bytes_in(const Json& object, const char* name) {
  return object.contains(name) ? format_bytes(object[name].get<std::int64_t>()) : "not known";
}

std::string milliseconds_in(const Json& object, const char* name) {
  return fmt::format("{:.1f} ms", object.at(name).get<double>() / 1e6);
}

std::string label_of(const Json& process) {
  const std::string who = process.contains("rank") ? "rank " + number_text(process, "rank")
                                                   : "process " + number_text(process, "process");
  return who + " on GPU " + number_text(process, "device");
}

std::string format_processes(const std::vector<Json>& processes) {
  std::vector<std::string> header{"gpu",    "fits", "allocated", "reserved",
                                  "driver", "of",   "pinned",    "last grew"};
  std::vector<std::vector<std::string>> lines;
  for (const Json& process : processes) lines.push_back(line_of(process));
  if (processes.size() > 1) {
    header.insert(header.begin(), {"rank", "process", "device"});
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Json& process = processes[i];
      lines[i].insert(lines[i].begin(),
                      {process.contains("rank") ? number_text(process, "rank") : "",
                       number_text(process, "process"), number_text(process, "device")});
    }
  }
  const std::string text = format_table(header, lines,
                                        {"rank", "process", "device", "allocated", "reserved",
                                         "driver", "of", "pinned", "last grew"});
  return text + (processes.size() > 1 ? largest_of(processes) : "") + missing_stages_of(processes) +
         notes_on(processes);
}

}  // namespace headroom
