// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace headroom::dry_run {

/// The functions of one C library that keep a value for each thread.
struct ThreadKeys {
  decltype(&pthread_key_create) create = nullptr;
  decltype(&pthread_key_delete) remove = nullptr;
  decltype(&pthread_getspecific) get = nullptr;
  decltype(&pthread_setspecific) set = nullptr;
};

}  // namespace headroom::dry_run
