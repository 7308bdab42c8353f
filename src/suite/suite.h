// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/core/yaml.h"
#include "src/suite/case.h"
#include "src/suite/catalog.h"

namespace headroom {

struct SuiteFile;

/// The key of a suite file, and of the header of what was measured by it.
inline constexpr const char* kMemoryOnly = "memory_only";

/// A value that the command line puts over every case: `--set train.batch_size=4`.
struct Override {
  std::string path;
  Node value;  // a scalar; its place is "--set train.batch_size=4"
};

/// Reads "K=V". Throws ConfigError where it is not of that form.
Override parse_override(const std::string& text);

/// A suite file, expanded.
struct Suite {
  static constexpr std::size_t kMaxCases = 5'000;

  std::string name;
  std::string source;  // where the published figures come from; may be empty
  std::string gpu;     // the GPU of the published figures, which `plan` plays; empty: none is named
  bool memory_only = false;  // times don't matter: none are kept, and `run` measures cases at once
  std::vector<Case> cases;
  /// A suite file that says the same with the catalog's defaults and the overrides spelled out. It
  /// is written beside the results; loading it gives the same cases.
  std::string effective_yaml;
};

/// Reads a suite file and expands its matrix.
///
/// A field's value comes from the last layer that gives it: the catalog's default, `defaults`, the
/// group, the case, `matrix`, `set` (in the file) together with `overrides` (from the command line,
/// which win). An override of a path that the matrix varies takes the place of that path's list.
///
/// A field that goes only with some values of its sibling `name` (train.optimizer.momentum with
/// sgd) is an error in the layer that gives it where the name in force is another one. Where a
/// later layer changes the name, what earlier layers gave and the new name does not take is
/// dropped.
///
/// Throws ConfigError with file:line:column and what is allowed there.
Suite load_suite(const std::string& path, const Catalog& catalog,
                 const std::vector<Override>& overrides = {});

/// Every case of the file in every group ("bert_vanilla" is case vanilla in group bert), under
/// every combination of its matrix, in the file's order, the groups slowest and the last key of the
/// matrix fastest, with the layers merged as load_suite says. Throws ConfigError; also where there
/// would be more than Suite::kMaxCases, or two of one name.
std::vector<Case> expand_cases(const SuiteFile& file, const Catalog& catalog);

/// Puts overrides of the command line into what the file says: over `set`, and in place of the list
/// of an axis of the same path. Throws ConfigError where a path is unknown.
void add_overrides(SuiteFile& file, const std::vector<Override>& overrides, const Catalog& catalog);

}  // namespace headroom
