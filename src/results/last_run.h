// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

// Which of several runs was the last, whose folders lie beside each other (out/SUITE/TIME). Their
// names and their journals' times are of a clock that can be set back, so a file says it.
namespace headroom {

inline constexpr const char* kLastRunFile = ".last";

/// Where `folder` lies in `runs`: writes there that its run is the last one. Throws
/// std::system_error that names what can't be written.
void remember_last_run(const std::filesystem::path& folder, const std::filesystem::path& runs);

/// The folder in `runs` that was remembered last, which may hold nothing yet; where none was, the
/// one whose journal was written last. Empty: there is none. Throws std::system_error.
std::filesystem::path last_run(const std::filesystem::path& runs);

}  // namespace headroom
