// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace headroom::dry_run {

/// A function that stands in for one of that name, whatever its arguments: a call of it ends as
/// not_modelled() says. The same one for the same name.
void* failing_function(const std::string& name);

}  // namespace headroom::dry_run
