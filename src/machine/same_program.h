// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace headroom {

/// Whether a process of this machine runs the same program file as this one, as the ranks of a case
/// do. False where that can't be seen.
bool runs_this_program(pid_t process);

}  // namespace headroom
