// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace headroom::ptx {

/// The PTX that a cubin was made of, which ptxas keeps in it where it is asked for line numbers
/// (-lineinfo), as Triton asks: the section .nv_debug_ptx_txt of the ELF file, whose lines end with
/// a zero. Empty: the image is no ELF file, or keeps none. `image`: all of it must be readable.
std::string_view ptx_of_cubin(const void* image);

}  // namespace headroom::ptx
