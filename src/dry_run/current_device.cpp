// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/current_device.h"

namespace headroom::dry_run {
namespace {

thread_local int of_this_thread = 0;

}  // namespace

int current_device() { return of_this_thread; }
void set_current_device(int device) { of_this_thread = device; }

}  // namespace headroom::dry_run
