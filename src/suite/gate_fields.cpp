// SPDX-License-Identifier: Apache-2.0
#include "src/suite/gate_fields.h"

namespace headroom {
namespace {

// The caching allocator's segment for what is larger than 1 MiB; whether a run needs one more may
// hang on when a stream came by.
constexpr std::int64_t kSegmentBytes = std::int64_t{20} << 20;

}  // namespace

Field gate_field() {
  Field percent{.name = kGateTimePercent,
                .summary = "how much a step's time may change, in percent",
                .type = FieldType::number,
                .default_value = 3.0,
                .numbers = {0.1, 100.0}};
  Field reserved{.name = kGateReservedBytes,
                 .summary = "how much a measured peak of reserved memory may change, in bytes",
                 .type = FieldType::integer,
                 .default_value = kSegmentBytes,
                 .integers = {0, std::int64_t{1} << 40}};
  return {.name = kGate,
          .summary = "how far figures may move before a comparison calls them changed",
          .type = FieldType::object,
          .fields = {percent, reserved}};
}

}  // namespace headroom
