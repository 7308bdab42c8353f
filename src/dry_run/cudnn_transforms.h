// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "src/dry_run/cudnn_types.h"

namespace headroom::dry_run {

// Work areas of engines that transform pictures, filters and results, multiply, and transform back,
// which cuDNN does not list without a GPU; none: it has no such engine for the convolution. Only of
// two dimensions, without dilation.
//
// The bytes are those of an H100 with cuDNN 9.19: of 2745 of 2747 such engines (Fourier) and of all
// 575 (Winograd). Of forward passes in float32 it lists Fourier's for nine in ten, the others in no
// pattern that was found; here they all have it. That an A100 tries them too is seen in what
// nvidia-smi said of one (docs/atlas.md).

/// Fourier transforms (CUDNN_NUMERICAL_NOTE_FFT), which no program gets that does not let cuDNN try
/// its engines: a picture is one tile, of gradients of the input two at a time.
std::optional<std::int64_t> fourier_workspace(const Convolution& convolution);

/// Winograd's (CUDNN_NUMERICAL_NOTE_WINOGRAD), in separate kernels: tiles of 4 by 4 results for a
/// window of three, of 9 by 9 for one of five.
std::optional<std::int64_t> winograd_workspace(const Convolution& convolution);

}  // namespace headroom::dry_run
