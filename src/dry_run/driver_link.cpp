// SPDX-License-Identifier: Apache-2.0
// libcuda: linking device code at run time, as numba does. What comes of it has no content, as a
// module has none here.
#include <cuda.h>

#include "src/dry_run/dry_run.h"

namespace headroom::dry_run {
namespace {

char linked[] = "";  // any code, and any handle, will do

}  // namespace

HEADROOM_ENTRY CUresult cuLinkCreate(unsigned, CUjit_option*, void**, CUlinkState* state) {
  *state = reinterpret_cast<CUlinkState>(linked);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuLinkAddData(CUlinkState, CUjitInputType, void*, std::size_t, const char*,
                                      unsigned, CUjit_option*, void**) {
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuLinkAddFile(CUlinkState, CUjitInputType, const char*, unsigned,
                                      CUjit_option*, void**) {
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuLinkComplete(CUlinkState, void** code, std::size_t* size) {
  *code = linked;
  *size = sizeof(linked);
  return CUDA_SUCCESS;
}

HEADROOM_ENTRY CUresult cuLinkDestroy(CUlinkState) { return CUDA_SUCCESS; }

}  // namespace headroom::dry_run
