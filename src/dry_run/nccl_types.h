// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nccl.h>

#include <cstdint>
#include <optional>

#include "src/dry_run/reduction.h"

// What NCCL's types stand for.
namespace headroom::dry_run {

std::int64_t transfer_bytes(std::size_t count, ncclDataType_t type);
Number number_of(ncclDataType_t type);
/// Nothing: an operation that the program made.
std::optional<Reduction> reduction_of(ncclRedOp_t operation);

}  // namespace headroom::dry_run
