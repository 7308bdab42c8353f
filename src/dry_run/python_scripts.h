// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace headroom::dry_run {

/// Runs step_times.py, peak_resets.py and the scripts that the settings ask for (peak_holders.py,
/// stop_after_steps.py) in the program's interpreter, once: now, or, where this thread may not run
/// Python now, in the first thread as soon as that may. To be called where PyTorch asks what
/// devices there are, before it takes memory.
void run_python_scripts();

}  // namespace headroom::dry_run
