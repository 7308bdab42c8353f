// SPDX-License-Identifier: Apache-2.0
#include "src/runner/deputies.h"

#include <algorithm>

#include "src/runner/reception.h"

namespace headroom {
namespace {

/// The ranks with the same key share the same cores.
std::string key_of(const std::string& machine, const Hello& hello) {
  return machine + " " + hello.core_set;
}

}  // namespace

Deputies::Deputies(const Launch& launch, const Hello& here, std::chrono::seconds patience,
                   const std::function<void(const std::string&)>& said)
    : launch_(launch), here_(here), all_(Reception(launch, here).receive(patience, said)) {}

Deputies::~Deputies() {
  for (Deputy& deputy : all_) deputy.connection.send({FrameKind::over, ""});
}

std::string Deputies::address_of(std::size_t rank) const {
  const auto far = std::find_if(all_.begin(), all_.end(), [](const Deputy& deputy) {
    return !deputy.ends.are_one_machine();
  });
  if (far == all_.end()) return "";
  // Who is on this machine as well may have come by the loopback interface.
  const bool is_here = rank == 0 || all_.at(rank - 1).ends.are_one_machine();
  return is_here ? far->ends.here : all_.at(rank - 1).ends.there;
}

std::vector<std::int64_t> Deputies::threads_of(std::size_t ranks) const {
  std::vector<const Hello*> hellos{&here_};
  std::vector<std::string> keys{key_of("", here_)};
  for (const Deputy& deputy : all_) {
    hellos.push_back(&deputy.hello);
    keys.push_back(key_of(deputy.ends.are_one_machine() ? "" : deputy.ends.there, deputy.hello));
  }
  keys.resize(ranks);  // the others wait
  std::vector<std::int64_t> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::int64_t sharing = std::count(keys.begin(), keys.end(), keys[rank]);
    const std::int64_t share = std::max<std::int64_t>(1, hellos[rank]->cores / sharing);
    threads.push_back(hellos[rank]->sets_threads ? 0 : share);
  }
  return threads;
}

std::string Deputies::lost() {
  for (Deputy& deputy : all_) {
    deputy.connection.exchange();
    if (deputy.connection.next()) deputy.lose("it spoke without being asked");
    if (!deputy.connection.lost().empty()) deputy.lose(deputy.connection.lost());
    if (!deputy.lost.empty())
      return "rank " + std::to_string(deputy.hello.rank) + ": " + deputy.lost;
  }
  return "";
}

}  // namespace headroom
