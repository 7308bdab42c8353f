// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace headroom {

/// An installed worker finds LibTorch in ../torch, whatever lies there. Its start would end in the
/// loader's words where nothing does, and in anything at all where another version does. So
/// `program`, the worker's folder, has a file `needed_libtorch` with the version that it was built
/// with, as "2.11.0+cu130" (cmake/Install.cmake); a folder of a build has none.
/// Throws Unsupported where ../torch is not that version up to its third number.
void check_needed_libtorch(const std::filesystem::path& program);

}  // namespace headroom
