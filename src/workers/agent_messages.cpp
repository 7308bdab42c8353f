// SPDX-License-Identifier: Apache-2.0
#include "src/workers/agent_messages.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <cstdlib>

#include "src/core/json.h"
#include "src/core/text.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxBytesOfText = 255;
constexpr std::int64_t kMaxThreads = 65536;
constexpr int kMaxExitStatus = 255;

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Whether it may be printed.
bool is_printable(const std::string& text) {
  return text.size() <= kMaxBytesOfText &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// A number from 0 to `max`. Throws JsonError for others, which get() would convert.
int count_in(const Json& values, const char* key, int max) {
  const Json& value = values.at(key);
  if (value.is_number_integer() && value >= 0 && value <= max) return value.get<int>();
  throw JsonError("no such number: " + value.dump());
}

/// Throws JsonError where it is no integer: get() would convert it.
std::int64_t integer(const Json& values, const char* key) {
  const Json& value = values.at(key);
  if (!value.is_number_integer()) throw JsonError(std::string(key) + " is no integer");
  return value.get<std::int64_t>();
}

// What a request may hold. Not "snapshot": that is a file that the worker would write.
constexpr std::array<std::string_view, 8> kKeys = {"request", "nonce", "device",  "case",
                                                   "rank",    "ranks", "address", "attempt"};

bool is_measurement(const Json& request) {
  if (!request.is_object() || request.value("request", Json()) != "measure") return false;
  return std::all_of(request.items().begin(), request.items().end(), [](const auto& item) {
    return std::find(kKeys.begin(), kKeys.end(), item.key()) != kKeys.end();
  });
}

bool is_count(const std::string& text) {
  const auto number = parse_integer(text);
  return number && *number >= 1 && *number <= kMaxThreads;
}

}  // namespace

Hello hello_of(const Launch& launch, const std::string& program, const std::string& worker) {
  return {.program = program,
          .ranks = launch.ranks,
          .rank = launch.rank,
          .host = host_name(),
          .cores = usable_cores(),
          .core_set = usable_core_set(),
          .sets_threads = std::getenv(kThreads) != nullptr,
          .worker = worker};
}

std::string to_text(const Hello& hello) {
  const Json text = {{"program", hello.program},
                     {"ranks", hello.ranks},
                     {"rank", hello.rank},
                     {"host", hello.host},
                     {"cores", hello.cores},
                     {"core_set", hello.core_set},
                     {"sets_threads", hello.sets_threads},
                     {"worker", hello.worker}};
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Hello> read_hello(std::string_view text) {
  try {
    const Json values = read_json(text);
    Hello hello;
    values.at("program").get_to(hello.program);
    hello.ranks = integer(values, "ranks");
    hello.rank = integer(values, "rank");
    values.at("host").get_to(hello.host);
    hello.cores = integer(values, "cores");
    values.at("core_set").get_to(hello.core_set);
    values.at("sets_threads").get_to(hello.sets_threads);
    hello.worker = values.value("worker", "");  // older versions say none, and are refused by name
    const bool is_fit = is_printable(hello.program) && is_printable(hello.worker) &&
                        is_printable(hello.host) && is_printable(hello.core_set);
    return is_fit ? std::optional(hello) : std::nullopt;
  } catch (const JsonError&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
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

void join(Json& request, const Launch& launch) {
  request["rank"] = launch.rank;
  request["local_rank"] = launch.local_rank;
  request["store"] = {{"host", launch.master_address}, {"port", launch.store_port()}};
}

std::string to_text(const WorkerEnd& end) {
  return Json{{"exit_status", end.exit.code},
              {"signal", end.exit.signal},
              {"killed_for_memory", end.killed_for_memory}}
      .dump();
}

std::optional<WorkerEnd> read_worker_end(std::string_view text) {
  try {
    const Json values = read_json(text);
    WorkerEnd end;
    end.exit.code = count_in(values, "exit_status", kMaxExitStatus);
    end.exit.signal = count_in(values, "signal", NSIG - 1);
    values.at("killed_for_memory").get_to(end.killed_for_memory);
    return end;
  } catch (const JsonError&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace headroom
