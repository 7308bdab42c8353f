// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/nccl_types.h"

namespace headroom::dry_run {

std::int64_t transfer_bytes(std::size_t count, ncclDataType_t type) {
  const auto elements = static_cast<std::int64_t>(count);
  switch (type) {
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8 * elements;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4 * elements;
    case ncclFloat16:
    case ncclBfloat16:
      return 2 * elements;
    default:  // all others have 8 bits
      return elements;
  }
}

Number number_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
      return Number::int8;
    case ncclUint8:
      return Number::uint8;
    case ncclInt32:
      return Number::int32;
    case ncclUint32:
      return Number::uint32;
    case ncclInt64:
      return Number::int64;
    case ncclUint64:
      return Number::uint64;
    case ncclFloat32:
      return Number::float32;
    case ncclFloat64:
      return Number::float64;
    default:
      return Number::other;
  }
}

std::optional<Reduction> reduction_of(ncclRedOp_t operation) {
  switch (operation) {
    case ncclSum:
      return Reduction::sum;
    case ncclProd:
      return Reduction::product;
    case ncclMax:
      return Reduction::max;
    case ncclMin:
      return Reduction::min;
    case ncclAvg:
      return Reduction::average;
    default:
      return std::nullopt;
  }
}

}  // namespace headroom::dry_run
