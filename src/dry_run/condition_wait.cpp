// SPDX-License-Identifier: Apache-2.0
// The C library's wait of a thread until another wakes it, as PyTorch waits for backward.
#include <dlfcn.h>
#include <pthread.h>

#include "src/dry_run/backward_thread.h"
#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

/// By its version: below glibc 2.36 dlsym() finds an older one of x86-64, of other conditions.
auto real_wait() {
  void* found = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
  if (found == nullptr) found = dlsym(RTLD_NEXT, "pthread_cond_wait");
  return reinterpret_cast<decltype(&pthread_cond_wait)>(found);
}

}  // namespace

HEADROOM_ENTRY int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto wait = real_wait();
  const int result = wait(condition, mutex);
  let_backward_end();
  return result;
}

}  // namespace headroom::dry_run
