// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/programs/dry_program.h"
#include "src/programs/kept_program.h"

namespace headroom {

/// How it is printed.
struct PlanForms {
  bool json = false;
  bool explains = false;  // also what holds the peaks; in JSON it stands where it is known
};

/// Prints what a program that ran dry took: as far as it came, where it failed or was interrupted;
/// then keeps it in `kept` (null: nowhere). `name`: of the program, for messages. Gives the exit
/// code: 0 where it fits; kDoesNotFit where memory ran out and it failed; kFailed where it failed
/// otherwise; kInterrupted after ctrl-C; 128 and the signal that was passed on to it. Throws
/// ConfigError where it used no CUDA device, Unsupported where it did what a dry run can't follow.
int report_program(const DryProgram& program, const std::string& name, const PlanForms& forms,
                   KeptProgram* kept = nullptr);

}  // namespace headroom
