// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace headroom::dry_run {

/// Writes what this process took and did, as one JSON object, to PID.json in the folder that the
/// settings name; nothing where they name none. docs/planning.md lists its members.
void write_report();

}  // namespace headroom::dry_run
