// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "src/core/json.h"
#include "src/results/columns.h"
#include "src/results/results_folder.h"

namespace headroom {

// Groups of cases.
namespace {

using Json = nlohmann::ordered_json;

/// All fields of a case but its techniques.
std::string fields_of(const CaseResult& result) {
  Json fields = result.work;
  if (fields.is_object()) fields.erase("techniques");
  return fields.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string title_of(const Row& row) {
  const std::int64_t ranks = ranks_of(row);
  return text_in(row, column::model) + (ranks == 1 ? "" : fmt::format(" on {} ranks", ranks));
}

void fill_references(CaseGroup& group) {
  std::map<std::string, const CaseResult*> plain;  // by their fields
  for (const CaseLine& line : group.lines) {
    if (is_plain(line.row()) && peak_of(line.row())) {
      plain.try_emplace(fields_of(*line.result), line.result);
    }
  }
  const CaseResult* before = nullptr;
  const CaseResult* plain_above = nullptr;
  for (CaseLine& line : group.lines) {
    line.before = before;
    if (!is_plain(line.row())) {
      const auto same = plain.find(fields_of(*line.result));
      line.plain = same == plain.end() ? plain_above : same->second;
    }
    if (!peak_of(line.row())) continue;
    before = line.result;
    if (is_plain(line.row())) plain_above = line.result;
  }
}

}  // namespace

std::optional<double> peak_of(const Row& row) {
  return number_in(row, column::run_peak_allocated_bytes);
}

std::vector<CaseGroup> group_cases(const std::vector<CaseResult>& cases) {
  std::vector<CaseGroup> groups;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> known;
  for (const CaseResult& result : cases) {
    const auto [place, is_new] = known.try_emplace(
        {text_in(result.row, column::model), ranks_of(result.row)}, groups.size());
    if (is_new) groups.push_back({title_of(result.row), {}});
    groups[place->second].lines.push_back({&result});
  }
  std::size_t number = 0;
  for (CaseGroup& group : groups) {
    for (CaseLine& line : group.lines) line.number = ++number;
    fill_references(group);
  }
  return groups;
}

Html figures_section(const std::string& title, const std::string& note,
                     const std::vector<CaseGroup>& groups, Html (*figure)(const CaseGroup&)) {
  Html parts;
  for (const CaseGroup& group : groups) parts += figure(group);
  if (parts.empty()) return {};
  return element("h3", title) + element("p", {{"class", "note"}}, note) + parts;
}

// How the run went.
namespace {

constexpr std::size_t kMaxValues = 8;

struct Fact {
  const char* title;
  std::string_view column;
};

constexpr std::array kFacts = {
    Fact{"device", column::device},
    Fact{"device's name", column::device_name},
    Fact{"GPU's UUID", column::gpu_uuid},
    Fact{"processor", column::cpu},
    Fact{"products in bfloat16", column::cpu_bfloat16},
    Fact{"products in float16", column::cpu_float16},
    Fact{"CUDA driver", column::driver},
    Fact{"CUDA of LibTorch", column::cuda},
    Fact{"LibTorch", column::libtorch},
    Fact{"commit of headroom", column::commit},
    Fact{"hash of the environment", column::environment_hash},
};

std::set<std::string> values_of(const Results& results, std::string_view column) {
  std::set<std::string> values;
  for (const CaseResult& result : results.cases) values.insert(text_in(result.row, column));
  values.erase("");
  return values;
}

Html list_of(const std::set<std::string>& values) {
  Html list;
  std::size_t shown = 0;
  for (const std::string& value : values) {
    if (shown == kMaxValues) break;
    list += (shown == 0 ? Html() : Html(", ")) + name_html(value);
    ++shown;
  }
  const std::size_t more = values.size() - shown;
  return more == 0 ? list : list + (" and " + std::to_string(more) + " more");
}

}  // namespace

Html missing_section(const Results& results) {
  HtmlTable table("Cases that did not end as ok", {{"case"}, {"status"}, {"reason"}});
  for (const CaseResult& result : results.cases) {
    if (status_of(result.row) == Status::ok) continue;
    table.add_row({{name_html(result.name)},
                   {element("b", text_in(result.row, column::status))},
                   {text_in(result.row, column::reason)}});
  }
  for (const std::string& name : results.not_done) {
    table.add_row({{name_html(name)}, {element("b", "not done")}, {""}});
  }
  return table.has_rows() ? element("h3", "Not ok, and why") + table.html() : Html();
}

Html environment_section(const Results& results) {
  HtmlTable table("Where these figures were made", {{"what"}, {"value"}});
  for (const Fact& fact : kFacts) {
    const auto values = values_of(results, fact.column);
    if (!values.empty()) table.add_row({{fact.title}, {list_of(values)}});
  }
  std::set<std::string> emulated;
  for (const CaseResult& result : results.cases) {
    if (!emulated_dtype(result.row).empty()) emulated.insert(result.name);
  }
  if (!emulated.empty()) {
    table.add_row({{"times of an emulation, not of the technique"}, {list_of(emulated)}});
  }
  const auto times = values_of(results, column::started_at);  // ISO 8601, so in the order of time
  if (!times.empty()) {
    const Html last = times.size() == 1 ? Html() : " to " + name_html(*times.rbegin());
    table.add_row({{"cases started"}, {name_html(*times.begin()) + last}});
  }
  return table.has_rows() ? element("h3", "Environment") + table.html() : Html();
}

namespace {

/// One word of a shell, whatever is in it.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@+";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

/// The regular expression that finds the name and no other one.
std::string exactly(const std::string& name) {
  constexpr std::string_view kSpecial = R"(^$\.*+?()[]{}|)";
  std::string expression = "^";
  for (const char c : name) {
    if (kSpecial.find(c) != std::string_view::npos) expression += '\\';
    expression += c;
  }
  return expression + "$";
}

/// The options of a plan of a program, and its words. What a journal says may be of any type.
std::string plan_of_program(const Json& work, const std::string& gpu) {
  std::string command = "./headroom plan --gpu " + shell_word(gpu);
  const auto add = [&](const char* option, const Json& value) {
    if (value.is_number_integer()) command += std::string(option) + value.dump();
    if (value.is_string()) command += option + shell_word(value.get<std::string>());
  };
  if (member(work, "ranks") != 1) add(" --ranks ", member(work, "ranks"));
  add(" --rank ", member(work, "rank"));
  add(" --steps ", member(work, "steps"));
  add(" --for ", member(work, "for"));
  add(" --gpu-memory ", member(work, "gpu_memory_bytes"));
  command += " --";
  for (const Json& word : member(work, "program")) add(" ", word);
  return command;
}

}  // namespace

std::string rerun_command(const Results& results, const CaseResult& result) {
  if (result.is_of_program()) {
    return plan_of_program(result.work, results.header["device"].get<std::string>());
  }
  const std::string suite = std::filesystem::path(results.journal).parent_path() / kSuiteFile;
  const bool is_plan = results.header["kind"] == "planned";
  const std::string device = results.header["device"].get<std::string>();
  const bool with_plan = result.row.contains(column::planned_run_peak_allocated_bytes);
  return std::string("./headroom ") + (is_plan ? "plan " : "run ") + shell_word(suite) +
         " --only " + shell_word(exactly(result.name)) + (is_plan ? " --gpu " : " --device ") +
         shell_word(device) + (with_plan ? " --with-plan" : "");
}

Html commands_section(const Results& results, const std::vector<CaseGroup>& groups) {
  HtmlTable table("The call that makes each row again", {{"case"}, {"call"}});
  for (const CaseGroup& group : groups) {
    for (const CaseLine& line : group.lines) {
      table.add_row({{name_html(line.result->name)},
                     {element("code", rerun_command(results, *line.result))}});
    }
  }
  return table.has_rows() ? element("h3", "Make a row again") + table.html() : Html();
}

}  // namespace headroom
