// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace headroom {

/// The name of the file system of a folder, "NFS", where its locks may hold for one machine only,
/// or not at all, by how it is mounted. Empty: it is none of those that are known to.
std::string network_file_system(const std::filesystem::path& folder);

}  // namespace headroom
