// SPDX-License-Identifier: Apache-2.0
#include "techniques/shard_dtype.h"

namespace headroom {

std::optional<at::ScalarType> scalar_type(ShardDtype dtype) {
  switch (dtype) {
    case ShardDtype::float32:
      return at::kFloat;
    case ShardDtype::float16:
      return at::kHalf;
    case ShardDtype::bfloat16:
      return at::kBFloat16;
    case ShardDtype::same:
      break;
  }
  return std::nullopt;
}

bool is_narrow(ShardDtype dtype) {
  return dtype == ShardDtype::float16 || dtype == ShardDtype::bfloat16;
}

}  // namespace headroom
