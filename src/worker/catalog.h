// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace headroom {

/// The tables of LibTorch's side as one document (docs/protocol.md).
nlohmann::ordered_json make_catalog();

}  // namespace headroom
