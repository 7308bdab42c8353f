// SPDX-License-Identifier: Apache-2.0
#include "src/runner/worker_end.h"

#include <csignal>
#include <nlohmann/json.hpp>

#include "src/core/json_reader.h"

namespace headroom {
namespace {

constexpr int kMostExitStatus = 255;

/// From 0 on. Not what get() makes of other numbers.
int integer(const nlohmann::ordered_json& value, int most) {
  const bool is_one = value.is_number_integer() && value >= 0 && value <= most;
  if (!is_one) throw JsonError("no such number: " + value.dump());
  return value.get<int>();
}

}  // namespace

std::string to_text(const WorkerEnd& end) {
  return nlohmann::ordered_json{{"exit_status", end.exit.code},
                                {"signal", end.exit.signal},
                                {"killed_for_memory", end.killed_for_memory}}
      .dump();
}

std::optional<WorkerEnd> read_worker_end(std::string_view text) {
  try {
    const nlohmann::ordered_json values = read_json(text);
    WorkerEnd end;
    end.exit.code = integer(values.at("exit_status"), kMostExitStatus);
    end.exit.signal = integer(values.at("signal"), NSIG - 1);
    values.at("killed_for_memory").get_to(end.killed_for_memory);
    return end;
  } catch (const JsonError&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace headroom
