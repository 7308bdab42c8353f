// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace headroom::dry_run {

/// To be called by each thread where it asks for its device, and where another has woken it.
/// PyTorch's thread that runs backward wakes the one that waits for it, and only then gives back
/// what its last operator held. With a core to spare that is over long before the other one goes
/// on; on a busy machine it may not be, and the peak would differ from run to run. So a thread that
/// is woken waits until that one sleeps.
void let_backward_end();

}  // namespace headroom::dry_run
