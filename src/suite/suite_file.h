// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/core/yaml.h"
#include "src/suite/catalog.h"
#include "src/suite/suite.h"

namespace headroom {

/// One entry of `cases`, before the layers are merged.
struct CaseEntry {
  std::string name;
  Place place;
  nlohmann::ordered_json techniques;  // complete: [{"name", ...options}]
  nlohmann::ordered_json published;
  Node fields;  // a map: what the entry says of ranks, model, data, train and limits
};

/// One entry of `groups`: a layer between `defaults` and the cases, each of which stands in it
/// once.
struct Group {
  std::string name;  // before the names of its cases; empty: the suite has no groups
  Node fields;       // a map, as that of a case
};

/// One line of `matrix`: a field and the values it takes.
struct Axis {
  std::string path;
  std::vector<Node> values;
};

/// What a suite file says, entry by entry.
struct SuiteFile {
  std::string name;
  std::string source;
  std::string gpu;  // empty: none is named
  bool memory_only = false;
  Node defaults;  // a map
  Place groups_place;
  std::vector<Group> groups;  // never empty
  std::vector<CaseEntry> cases;
  Place matrix_place;
  std::vector<Axis> matrix;
  std::vector<Override> overrides;  // `set`
};

/// Takes the tree of a suite file apart. All but the fields of `defaults` and of the cases is
/// checked by then. Throws ConfigError.
SuiteFile parse_suite_file(const Node& root, const Catalog& catalog);

/// The suite that a file describes. Throws ConfigError.
Suite make_suite(const SuiteFile& file, const Catalog& catalog);

/// The keys that `published` takes: those columns X for which the catalog has published_X.
std::vector<std::string> published_keys(const Catalog& catalog);

/// A suite file that says what `file` says, with the catalog's defaults spelled out in `defaults`
/// and the options of techniques complete. `file` has been expanded without error before.
std::string write_effective_suite(const SuiteFile& file, const Catalog& catalog);

}  // namespace headroom
