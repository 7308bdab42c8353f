// SPDX-License-Identifier: Apache-2.0
#include "src/runner/hello.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "src/core/json_reader.h"
#include "src/runner/environment.h"
#include "src/runner/process_environment.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestText = 255;

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Fit to be printed.
bool is_plain(const std::string& text) {
  return text.size() <= kLongestText &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// Not what get() makes of other numbers.
std::int64_t integer(const Json& values, const char* key) {
  const Json& value = values.at(key);
  if (!value.is_number_integer()) throw JsonError(std::string(key) + " is no integer");
  return value.get<std::int64_t>();
}

}  // namespace

Hello hello_of(const Launch& launch, const std::string& program) {
  return {.program = program,
          .ranks = launch.ranks,
          .rank = launch.rank,
          .host = host_name(),
          .cores = usable_cores(),
          .core_set = usable_core_set(),
          .sets_threads = std::getenv(kThreads) != nullptr};
}

std::string to_text(const Hello& hello) {
  const Json text = {{"program", hello.program},
                     {"ranks", hello.ranks},
                     {"rank", hello.rank},
                     {"host", hello.host},
                     {"cores", hello.cores},
                     {"core_set", hello.core_set},
                     {"sets_threads", hello.sets_threads}};
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
    const bool is_fit = is_plain(hello.program) && is_plain(hello.host) && is_plain(hello.core_set);
    return is_fit ? std::optional(hello) : std::nullopt;
  } catch (const JsonError&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace headroom
