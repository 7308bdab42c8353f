// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "src/dry_run/known_bytes.h"
#include "src/dry_run/small_operands.h"
#include "src/dry_run/small_operations.h"

// What == and != of elements give where these are not known.
namespace headroom::dry_run {

/// Says of the result what follows where nothing is known of one of the tensors. False: nothing
/// does.
bool guess_equal(const Operation& operation, const Operands& operands, KnownBytes& known);

/// What elements that are not known give beside others that are; nothing: that is not known.
std::optional<bool> result_of_others(const Operands& operands, const KnownBytes& known);

}  // namespace headroom::dry_run
