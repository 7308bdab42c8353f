// SPDX-License-Identifier: Apache-2.0
#include "src/dry_run/launcher.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace headroom::dry_run {
namespace {

std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  int number = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  return error == std::errc() && *end == '\0' ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<RankOfWorld> rank_by_launcher() {
  const auto rank = number_in("RANK");
  const auto ranks = number_in("WORLD_SIZE");
  if (!rank || !ranks || *rank < 0 || *rank >= *ranks) return std::nullopt;
  return RankOfWorld{*rank, *ranks};
}

std::optional<int> ranks_of_machine_by_launcher() {
  const auto ranks = number_in("LOCAL_WORLD_SIZE");
  return ranks && *ranks > 0 ? ranks : std::nullopt;
}

}  // namespace headroom::dry_run
