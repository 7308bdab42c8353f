// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

namespace headroom::dry_run {

/// A function of the interpreter, which is in the program or in a library of it; null: there is
/// none.
template <class Function>
Function* python_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace headroom::dry_run
