// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <map>

#include "src/dry_run/cudnn_types.h"

namespace headroom::dry_run {

using KnobValues = std::map<cudnnBackendKnobType_t, std::int64_t>;

/// What is to be added to a work area that cuDNN gave for the engine of these knobs without a GPU
/// of so many multiprocessors: engines of Hopper share tiles out among clusters of multiprocessors,
/// cut the tiles that are left for the last turn along what they sum, and keep partial sums.
/// Without a GPU cuDNN takes such an engine to have no more than 18 multiprocessors, and lets no
/// program say more (CUDNN_ATTR_ENGINE_SM_COUNT_TARGET). May be negative. 0 for an engine of other
/// knobs.
///
/// Seen on an H100 (132 multiprocessors) with cuDNN 9.19, of 7554 convolutions: the rule gives the
/// bytes of 99 of 100 such engines, of those that it was not made from as well. How many clusters a
/// GPU holds at once is of that H100; of a GPU with other multiprocessors it is assumed that
/// clusters fill them.
std::int64_t missing_partial_sums(const Convolution& convolution, const KnobValues& knobs,
                                  std::int64_t multiprocessors);

}  // namespace headroom::dry_run
