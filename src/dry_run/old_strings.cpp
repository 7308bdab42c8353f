// SPDX-License-Identifier: Apache-2.0
// Compiled with the strings of before C++11 (CMakeLists.txt): std::string is another type here.
#include "src/dry_run/old_strings.h"

#include <string>

namespace headroom::dry_run {

void take_old_string(void* function, void (*take)(void* data, const char* text), void* data) {
  take(data, reinterpret_cast<std::string (*)()>(function)().c_str());
}

}  // namespace headroom::dry_run
