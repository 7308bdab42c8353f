// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace headroom::dry_run {

/// Calls `function`, which gives a std::string as the C++ library had it before C++11, and hands
/// its text to `take` with `data`. PyTorch's wheels gave such strings from 2.1 to 2.6.
void take_old_string(void* function, void (*take)(void* data, const char* text), void* data);

}  // namespace headroom::dry_run
