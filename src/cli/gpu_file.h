// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/gpus/gpu.h"

namespace headroom {

/// Whether what stands behind `--gpu` is a file and no name: it has a folder, or ends as one.
bool is_gpu_file(const std::string& gpu);

/// Reads a GPU that the table does not have, and makes it one that find_gpu() finds. The file is
/// YAML, which JSON is part of: `name`; `like`, a name of the table, whose figures count where the
/// file has none, or else all figures of an entry of `headroom list gpus --json`; `product`, what
/// the driver calls it, default: the name. `summary` and `source` are for people.
/// Throws ConfigError, with the place.
const dry_run::Gpu& read_gpu_file(const std::string& path);

}  // namespace headroom
