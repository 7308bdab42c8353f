// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace headroom::dry_run {

/// From now on the program's interpreter counts what this thread calls in it, functions of Python
/// and of C alike, until the program sets a profile function of its own. Needs the interpreter's
/// lock.
void count_python_calls();

/// How many there were since this thread asked last. PyTorch's threads that run backward begin to
/// count here. Takes the interpreter's lock.
std::int64_t take_python_calls();

}  // namespace headroom::dry_run
