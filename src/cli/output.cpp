// SPDX-License-Identifier: Apache-2.0
#include "src/cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "src/core/file.h"
#include "src/core/text.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

std::string format_value(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (name.ends_with("bytes") && value.is_number_integer()) {
    return value.dump() + " (" + format_bytes(value.get<std::int64_t>()) + ")";
  }
  return value.dump();
}

/// Names in a list would fill the screen: their count does.
std::string format_cell(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() && !value.empty() && value[0].is_string()) {
    return std::to_string(value.size());
  }
  return value.dump();
}

bool is_table(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_object(); });
}

std::string format_objects(const Json& objects) {
  Cells header;
  for (const auto& [name, value] : objects.front().items()) header.push_back(name);
  std::vector<Cells> rows;
  Cells numbers = header;
  for (const Json& object : objects) {
    Cells& row = rows.emplace_back();
    for (const std::string& name : header) {
      const Json value = object.value(name, Json(""));
      row.push_back(format_cell(value));
      if (!value.is_number()) std::erase(numbers, name);
    }
  }
  return format_table(header, rows, numbers);
}

std::string format_members(const Json& object, const std::string& indent) {
  std::string text;
  for (const auto& [name, value] : object.items()) {
    if (value.is_object()) {
      text += indent + printable(name) + ":\n" + format_members(value, indent + "  ");
    } else if (is_table(value)) {
      text += indent + printable(name) + ":\n" + format_objects(value);
    } else {
      text += indent + printable(name) + ": " + printable(format_value(name, value)) + "\n";
    }
  }
  return text;
}

}  // namespace

void print(std::string_view text) {
  try {
    write_all(STDOUT_FILENO, text, "standard output");
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::broken_pipe) throw;
  }
}

void say(std::string_view text) {
  // There is nowhere to report that it failed.
  try_write(STDERR_FILENO, "headroom: " + printable(text) + "\n", std::chrono::seconds(1));
}

std::string format_result(const Json& result) { return format_members(result, ""); }

}  // namespace headroom
