// SPDX-License-Identifier: Apache-2.0
#include "src/runner/work_order.h"

#include <algorithm>
#include <array>

#include "src/core/json_reader.h"
#include "src/core/scalar.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostThreads = 65536;

// What a request may hold. Not "snapshot": that is a file that the worker would write.
constexpr std::array<std::string_view, 7> kKeys = {"request", "nonce", "device", "case",
                                                   "rank",    "ranks", "address"};

bool is_measurement(const Json& request) {
  if (!request.is_object() || request.value("request", Json()) != "measure") return false;
  return std::all_of(request.items().begin(), request.items().end(), [](const auto& item) {
    return std::find(kKeys.begin(), kKeys.end(), item.key()) != kKeys.end();
  });
}

bool is_count(const std::string& text) {
  const auto number = parse_integer(text);
  return number && *number >= 1 && *number <= kMostThreads;
}

}  // namespace

void join(Json& request, const Launch& launch) {
  request["rank"] = launch.rank;
  request["local_rank"] = launch.local_rank;
  request["store"] = {{"host", launch.master_address}, {"port", launch.store_port()}};
}

std::string to_text(const WorkOrder& order) {
  return Json{{"request", order.request}, {"threads", order.threads}}.dump();
}

std::optional<WorkOrder> read_order(std::string_view text, const Launch& launch) {
  try {
    const Json values = read_json(text);
    WorkOrder order{values.at("request"), values.at("threads").get<std::string>()};
    if (!is_measurement(order.request)) return std::nullopt;
    if (!order.threads.empty() && !is_count(order.threads)) return std::nullopt;
    join(order.request, launch);
    return order;
  } catch (const JsonError&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace headroom
