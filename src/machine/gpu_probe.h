// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace headroom {

/// Has each CUDA device add 1 and 1, in a context of its own. Throws std::runtime_error with what
/// is wrong, and of which device; c10::Error where CUDA tells of none.
void probe_gpus();

}  // namespace headroom
