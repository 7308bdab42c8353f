// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/suite/case.h"
#include "src/suite/catalog.h"
#include "src/suite/override.h"

namespace headroom {

/// A suite file, expanded.
struct Suite {
  static constexpr std::size_t kMostCases = 5'000;

  std::string name;
  std::string source;  // where the published figures come from; may be empty
  std::string gpu;     // the GPU of the published figures, which `plan` plays; empty: none is named
  std::vector<Case> cases;
  /// A suite file that says the same with the catalog's defaults and the overrides spelled out. It
  /// is written beside the results; loading it gives the same cases.
  std::string effective_yaml;
};

/// Reads a suite file and expands its matrix.
///
/// A field's value comes from the last layer that gives it: the catalog's default, `defaults`, the
/// case, `matrix`, `set` (in the file) together with `overrides` (from the command line, which
/// win). An override of a path that the matrix varies takes the place of that path's list.
///
/// A field that goes only with some values of its sibling `name` (train.optimizer.momentum with
/// sgd) is an error in the layer that gives it where the name in force is another one. Where a
/// later layer changes the name, what earlier layers gave and the new name does not take is
/// dropped.
///
/// Throws ConfigError with file:line:column and what is allowed there.
Suite load_suite(const std::string& path, const Catalog& catalog,
                 const std::vector<Override>& overrides = {});

}  // namespace headroom
