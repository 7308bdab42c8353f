// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace headroom {

/// Takes away the memory behind a tensor and all its views, whoever else holds them: a library's
/// thread may for a moment longer, and what is live at a peak is not to hang on that. They can't be
/// read until it is allocated again.
void release_storage(const at::Tensor& tensor);

/// Gives a tensor of which release_storage() took the memory new one, with any content, on the
/// current stream. The tensor reaches to the end of its storage.
void allocate_storage(const at::Tensor& tensor);

bool is_allocated(const at::Tensor& tensor);

}  // namespace headroom
