// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/runner/fit_search.h"
#include "src/suite/case.h"
#include "src/suite/catalog.h"
#include "src/suite/suite_file.h"

namespace headroom {

/// What a memory is to be found for: one case without techniques, that takes stacks and sizes.
class FitSuite {
 public:
  /// The first case of a suite file, at the first values of its matrix.
  /// Throws ConfigError, as the two below.
  FitSuite(SuiteFile file, const std::vector<Override>& overrides, const Catalog& catalog);

  /// A suite of a model on a data set, all else as the catalog and the overrides have it.
  static FitSuite of_model(const std::string& model, const std::string& dataset,
                           const std::vector<Override>& overrides, const Catalog& catalog);

  const std::string& name() const { return file_.name; }
  const std::string& gpu() const { return file_.gpu; }  // empty: none is named

  /// The case with a stack at a size. `is_short`: with no more updates than memory needs to become
  /// steady, and no evaluation.
  Case make_case(const FitStack& stack, FitSize size, bool is_short) const;

  /// The case as it stands, with no technique.
  Case plain_case() const;

  /// A suite file of that one case, for the GPU.
  std::string write(const FitStack& stack, FitSize size, const std::string& gpu) const;

 private:
  SuiteFile with(const FitStack& stack, FitSize size, bool is_short) const;

  SuiteFile file_;
  std::vector<Override> command_line_;
  const Catalog& catalog_;
};

}  // namespace headroom
