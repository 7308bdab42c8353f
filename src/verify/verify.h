// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/suite/catalog.h"

namespace headroom {

/// What a finding means for the results.
enum class Grade {
  wrong,  // they contradict themselves: damaged, edited, or not written by headroom
  weak,   // they hold together, but are not to be published as they are
};

/// One rule that results do not keep.
struct Finding {
  std::string rule;
  Grade grade = Grade::wrong;
  std::string place;      // "file:line:column", or "file"
  std::string case_name;  // empty: it is about the folder
  std::string what;       // what is there, and what is allowed
};

/// The most findings of one rule about one folder that are told: as many as help nobody, and fit
/// any memory.
inline constexpr std::size_t kMaxFindings = 10'000;

struct Verification {
  std::size_t folders = 0;
  std::size_t rows = 0;
  std::vector<Finding> findings;  // by folder, then in the order of the rules

  bool has(Grade grade) const;
};

/// Checks each results folder in and below `paths` against all rules, by what its files say alone:
/// nothing in them is run, and nothing is changed. A folder whose journal can't be read is a
/// finding, and the others are checked all the same. What the catalog does not know, as in results
/// of another version, is checked as far as the files explain it.
/// Throws ConfigError where a path is no folder or holds no results.
Verification verify_results(const std::vector<std::string>& paths, const Catalog& catalog);

/// The name of every rule, in order.
std::vector<std::string_view> verified_rules();

}  // namespace headroom
