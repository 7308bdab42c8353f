// SPDX-License-Identifier: Apache-2.0
#include "src/report/rerun.h"

#include <filesystem>
#include <string_view>

namespace headroom {
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

}  // namespace

std::string rerun_command(const Results& results, const CaseResult& one) {
  const std::string suite = std::filesystem::path(results.journal).parent_path() / "suite.yaml";
  const bool is_plan = results.header["kind"] == "planned";
  const std::string device = results.header["device"].get<std::string>();
  const bool with_plan = one.row.contains("planned_run_peak_allocated_bytes");
  return std::string("./headroom ") + (is_plan ? "plan " : "run ") + shell_word(suite) +
         " --only " + shell_word(exactly(one.name)) + (is_plan ? " --gpu " : " --device ") +
         shell_word(device) + (with_plan ? " --with-plan" : "");
}

}  // namespace headroom
