// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace headroom::dry_run {

/// From now on the program's interpreter counts what this thread calls in it, functions of Python
/// and of C alike, until the program sets a profile function of its own. Needs the interpreter's
/// lock.
void count_python_calls();

/// The same, where this is a thread of PyTorch's that runs backward. Takes the interpreter's lock
/// the first time: not for where PyTorch may hold a lock of its own, as its allocator does.
void count_python_calls_of_backward();

/// How many there were since this thread asked last.
std::int64_t take_python_calls();

}  // namespace headroom::dry_run
