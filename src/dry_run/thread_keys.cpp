// SPDX-License-Identifier: Apache-2.0
// Values of threads, for libraries in a namespace of their own (dlmopen), as a library that is
// loaded there first. Such a namespace has a C library of its own, which counts keys from 0 as the
// program's does; a thread has one list of values for both. NVRTC makes 38 keys when it is loaded:
// without this it finds there what the program's own NVRTC, or Python, left.
#include "src/dry_run/thread_keys.h"

extern "C" {

/// Those of the program's C library. Who loads this library sets them, before it loads another.
headroom::dry_run::ThreadKeys headroom_thread_keys;

int pthread_key_create(pthread_key_t* key, void (*end)(void*)) {
  return headroom_thread_keys.create(key, end);
}

/// As the C++ library calls it.
int __pthread_key_create(pthread_key_t* key, void (*end)(void*)) {
  return headroom_thread_keys.create(key, end);
}

int pthread_key_delete(pthread_key_t key) { return headroom_thread_keys.remove(key); }

void* pthread_getspecific(pthread_key_t key) { return headroom_thread_keys.get(key); }

int pthread_setspecific(pthread_key_t key, const void* value) {
  return headroom_thread_keys.set(key, value);
}

}  // extern "C"
