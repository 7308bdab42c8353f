// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/results/results.h"

namespace headroom {

/// One case, measured by as many processes as there are results folders of its suite.
struct Repeats {
  std::string suite;
  std::string name;
  std::string kind;       // measured or planned
  std::string device;     // that the journals name: cpu, cuda, or the GPU that is planned for
  std::string libraries;  // a hash of the worker's; empty: the journals name none
  std::vector<const CaseResult*> runs;  // empty: the suite has the case, and none did it

  /// The values of a column in the runs that have it.
  std::vector<double> values(std::string_view column) const;
  /// Those of them that can be times: above 0.
  std::vector<double> times(std::string_view column) const;
  /// How the case ended: in the first of the runs that did not end as `ok`, or in the first one.
  const Row& row() const;
  std::string status() const;  // "not done" where there is no run
};

/// The case of that suite and name; null: it is not among them.
const Repeats* find_repeats(const std::vector<Repeats>& list, const std::string& suite,
                            const std::string& name);

/// The cases of results, in their order, each with its runs. The results must outlive it.
/// Throws ResultsError where two results of a suite are not repeats: another kind, device, worker,
/// or other work.
std::vector<Repeats> repeats_of(const std::vector<Results>& results);

}  // namespace headroom
