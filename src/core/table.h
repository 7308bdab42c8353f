// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/error.h"
#include "src/core/text.h"

// Tables are lists of entries that have a `name`: techniques, optimizers, models, data sets, and
// what the catalog says of them.
namespace headroom {

/// The names of a table's entries, in its order.
template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  return names;
}

/// The entry of that name. `kind` says what the entries are, in the singular.
/// Throws ConfigError with the names there are.
template <class Entry>
const Entry& find_entry(std::span<const Entry> table, std::string_view kind,
                        std::string_view name) {
  for (const Entry& entry : table) {
    if (entry.name == name) return entry;
  }
  throw ConfigError("unknown " + std::string(kind) + " '" + std::string(name) + "'; " +
                    allowed_names(std::string(name), names_of(table)));
}

}  // namespace headroom
