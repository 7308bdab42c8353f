// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/runner/suite_run.h"

namespace headroom {

/// Shows a run on standard error: on a terminal one line that is written over while a case runs,
/// anywhere else one line for each case that ended. The status has a colour on a terminal, unless
/// NO_COLOR is set.
class ProgressLines : public SuiteRunObserver {
 public:
  explicit ProgressLines(std::string suite);

  void said(const std::string& note) override;
  void case_started(std::size_t index, std::size_t count, const Case& one) override;
  void case_progressed(const WorkerProgress& progress) override;
  void case_ended(const Row& row) override;

 private:
  std::string suite_;
  std::string current_;  // "vit_l16 [2/5] vanilla"
  bool is_terminal_;
  bool has_colour_;
};

}  // namespace headroom
