// SPDX-License-Identifier: Apache-2.0
#include "src/core/hidden_tiles.h"

#include <cstdlib>

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace headroom {

#ifdef __x86_64__

bool hides_tiles() {
  constexpr unsigned kFeatures = 7;
  constexpr unsigned kTiles = 0x1D;
  constexpr unsigned kAmxTile = 1U << 24U;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(kFeatures, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kAmxTile) == 0) return false;
  const int is_known = __get_cpuid_count(kTiles, 0, &eax, &ebx, &ecx, &edx);
  return is_known == 0 || eax == 0;
}

#else

bool hides_tiles() { return false; }

#endif

void do_without_hidden_tiles() {
  if (hides_tiles()) setenv("ONEDNN_MAX_CPU_ISA", kWithoutTiles, /*overwrite=*/0);
}

}  // namespace headroom
