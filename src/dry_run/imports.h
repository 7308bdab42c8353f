// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace headroom::dry_run {

/// The program's libraries are bound to the dry run where it has what they import; what it lacks,
/// they get from CUDA's own libraries, which fail without a device, each in its own way. This makes
/// it fail by its name (failing_functions.h), for all that is loaded now: whichever version of
/// LibTorch or CUDA it is. What works without a device is left alone: versions, and the names of
/// errors. Called while a library is being loaded, by which no other thread loads one.
void bind_what_is_not_modelled();

}  // namespace headroom::dry_run
