// SPDX-License-Identifier: Apache-2.0
#include "src/runner/step_time_bound.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/gpus/gpu.h"
#include "src/runner/outcome.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

/// The precision of the case's fastest products: a bound must not be too high.
dry_run::Precision fastest_precision(const Json& columns, bool tf32) {
  const std::string name = columns.value("precision", "");
  if (name.ends_with("bfloat16")) return dry_run::Precision::bfloat16;
  if (name.ends_with("float16")) return dry_run::Precision::float16;
  if (name == "float64") return dry_run::Precision::float64;
  return tf32 ? dry_run::Precision::tensorfloat32 : dry_run::Precision::float32;
}

}  // namespace

std::optional<std::int64_t> step_time_lower_bound_ns(const Json& record, const std::string& gpu,
                                                     bool tf32) {
  const dry_run::Gpu* found = dry_run::find_gpu(gpu);
  const Json columns = columns_of(record);
  if (found == nullptr || !columns.contains("flops_per_step")) return std::nullopt;
  const double flops = columns["flops_per_step"].get<double>();
  const double copied = columns.value("host_link_bytes_per_step", 0.0);
  const double sent = columns.value("collective_bytes_per_step", 0.0);
  const double seconds =
      std::max({flops / dry_run::peak_flops(*found, fastest_precision(columns, tf32)),
                copied / (2 * found->host_bytes_per_second),  // both directions at once
                sent / found->peer_bytes_per_second});
  return static_cast<std::int64_t>(seconds * 1e9);
}

}  // namespace headroom
