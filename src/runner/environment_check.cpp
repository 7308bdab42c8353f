// SPDX-License-Identifier: Apache-2.0
#include "src/runner/environment_check.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/error.h"
#include "src/core/text.h"

namespace headroom {
namespace {

constexpr std::int64_t kMaxThreads = 65'536;

std::string without_spaces(std::string_view text) {
  std::string result(text);
  std::erase_if(result, [](char c) {
    return std::string_view(" \t\n\r\f\v").find(c) != std::string_view::npos;
  });
  return result;
}

/// The parts of a text between commas that stand in no bracket; one part of an empty text.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool is_number_of_threads(const std::string& text) {
  const auto number = parse_integer(text);
  return number && *number >= 1 && *number <= kMaxThreads;
}

bool is_device(const std::string& text) {
  const auto number = parse_integer(text);
  if (number) return *number >= -1;
  return text.starts_with("GPU-") || text.starts_with("MIG-");
}

/// A value, or a list in brackets, which holds no list.
bool is_value(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return !text.empty() && text.find_first_of("[]") == std::string_view::npos;
}

/// name:value
bool is_option(const std::string& text) {
  const std::size_t colon = text.find(':');
  return colon != std::string::npos && colon > 0 && text.find_first_of("[]") > colon &&
         is_value(std::string_view(text).substr(colon + 1));
}

struct Form {
  std::string_view variable;
  bool (*is_valid)(const std::string& part);
  std::string_view allowed;
};

constexpr std::string_view kOptions = "NAME:VALUE or NAME:[VALUE,...], with commas between them";

constexpr std::array kForms = {
    Form{kThreads, &is_number_of_threads, "a number of threads, from 1, or several with commas"},
    Form{"CUDA_VISIBLE_DEVICES", &is_device,
         "numbers of GPUs or their names (GPU-..., MIG-...), with commas; none: empty or -1"},
    Form{"PYTORCH_ALLOC_CONF", &is_option, kOptions},
    Form{"PYTORCH_CUDA_ALLOC_CONF", &is_option, kOptions}};

}  // namespace

void check_environment(const Variables& variables) {
  for (const Form& form : kForms) {
    const auto found = variables.find(form.variable);
    if (found == variables.end() || found->second.empty()) continue;
    const std::vector<std::string> parts = split(without_spaces(found->second));
    if (std::ranges::all_of(parts, form.is_valid)) continue;
    throw ConfigError("the environment's " + std::string(form.variable) + " is '" +
                      printable(found->second) + "'; allowed: " + std::string(form.allowed));
  }
}

}  // namespace headroom
