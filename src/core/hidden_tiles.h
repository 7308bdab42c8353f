// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace headroom {

/// What oneDNN may use at most where the tiles of AMX are hidden.
inline constexpr const char* kWithoutTiles = "AVX512_CORE_FP16";

/// Whether the processor shows AMX (CPUID 7.0, EDX bit 24) and not its tiles (CPUID 1DH.0, EAX:
/// their greatest palette), as some virtual machines do. oneDNN sets up no tile there, so that the
/// first bfloat16 product of any program of PyTorch ends it with SIGILL.
bool hides_tiles();

/// Has oneDNN do without AMX there, in this process and those that it starts, unless the user has
/// set ONEDNN_MAX_CPU_ISA. To be called before the first thread and the first product.
void do_without_hidden_tiles();

}  // namespace headroom
