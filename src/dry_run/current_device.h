// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace headroom::dry_run {

/// The device that this thread's calls go to, counted from 0 as the program counts; 0, until
/// cudaSetDevice says otherwise. As in CUDA, each thread has its own.
int current_device();
void set_current_device(int device);

}  // namespace headroom::dry_run
