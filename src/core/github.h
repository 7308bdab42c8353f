// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace headroom {

/// A line that annotates a job on GitHub where the job prints it: an error, or else a warning.
/// Source: GitHub, "Workflow commands for GitHub Actions".
std::string github_annotation(bool is_error, std::string_view title, std::string_view text);

}  // namespace headroom
