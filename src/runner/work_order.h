// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "src/runner/launcher.h"

namespace headroom {

/// What the runner has a deputy's worker do.
struct WorkOrder {
  nlohmann::ordered_json request;  // with its nonce
  std::string threads;             // OMP_NUM_THREADS; empty: as it is there
};

/// Says in a request to a worker which rank it is and where the ranks meet: as the launcher said.
void join(nlohmann::ordered_json& request, const Launch& launch);

std::string to_text(const WorkOrder& order);

/// The order as a deputy carries it out; nothing: it is none that one carries out. A stranger may
/// have written it: it is but a measurement, which names no file to be written but the folder of
/// weights of its case, and which rank it is and where the ranks meet is as the launcher told the
/// deputy.
std::optional<WorkOrder> read_order(std::string_view text, const Launch& launch);

}  // namespace headroom
