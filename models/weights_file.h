// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "models/model.h"

// Tensors in safetensors files. The format's header is checked in src/core/safetensors.h.
namespace headroom {

using NamedTensors = std::map<std::string, at::Tensor>;

/// All tensors of a file, on the CPU, in the dtype of the file, in memory of their own.
/// Throws ConfigError where the file is malformed, or changes while it is read.
NamedTensors read_tensors(const std::string& path);

/// Replaces the model's parameters by those of a file, which must be just these: same names, same
/// shapes, floating point (of any width: values are converted to the dtype of the parameter).
/// Throws ConfigError that lists the names that are missing, unexpected or of another shape or
/// type; the model is as it was then.
void load_weights(const std::string& path, Model& model);

/// Writes the tensors, from any device, as one file; replaces it or leaves it as it was.
/// Throws std::system_error where that fails.
void write_tensors(const std::string& path, const NamedTensors& tensors);

}  // namespace headroom
