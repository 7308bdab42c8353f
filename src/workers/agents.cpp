// SPDX-License-Identifier: Apache-2.0
#include "src/workers/agents.h"

#include <strings.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/core/error.h"

namespace headroom {
namespace {

constexpr std::size_t kMaxBytesOfHello = 4096;
constexpr std::size_t kMaxBytesOfFrame = 128 * 1024;  // an agent passes on what it reads at once
constexpr std::size_t kMaxHandshakes = 64;            // besides those that are awaited
constexpr std::chrono::seconds kHelloTimeout{5};
constexpr std::size_t kMaxNamed = 8;

/// A name without its domain.
std::string_view first_label(std::string_view name) { return name.substr(0, name.find('.')); }

bool are_all_here(const Launch& launch) { return launch.local_ranks == launch.ranks; }

/// The host for whose agents to listen. A machine's own name may be the loopback's on itself, as
/// Debian has it, and another address where agents of other machines read it.
std::string listened_host(const Launch& launch, const Hello& here) {
  const std::string_view host = first_label(launch.master_address);
  const std::string_view own = first_label(here.host);
  const bool is_own_name =
      host.size() == own.size() && strncasecmp(host.data(), own.data(), own.size()) == 0;
  return is_own_name && !are_all_here(launch) ? "::" : launch.master_address;
}

FileDescriptor listen_for(const Launch& launch, const Hello& here, int port,
                          const std::string& name) {
  try {
    return listen_on(listened_host(launch, here), port, are_all_here(launch));
  } catch (const std::system_error& error) {
    throw Unsupported("port " + std::to_string(port) + " (" + name + ") can't be listened on: " +
                      error.code().message() + "; choose another MASTER_PORT (torchrun: " +
                      "--master-port), with the two ports behind it free as well");
  }
}

/// The ranks with the same key share the same cores.
std::string key_of(const std::string& machine, const Hello& hello) {
  return machine + " " + hello.core_set;
}

}  // namespace

Listener::Listener(const Launch& launch, const Hello& here)
    : launch_(launch),
      here_(here),
      socket_(listen_for(launch, here, launch.runner_port(), "MASTER_PORT + 1")) {
  // The workers of rank 0 will: better said now than in each case.
  listen_for(launch, here, launch.store_port(), "MASTER_PORT + 2");
}

std::vector<Agent> Listener::accept_all(std::chrono::seconds timeout,
                                        const std::function<void(const std::string&)>& said) {
  const auto deadline = Clock::now() + timeout;
  while (agents_.size() + 1 < static_cast<std::size_t>(launch_.ranks)) {
    if (Clock::now() >= deadline) {
      throw Unsupported("after " + std::to_string(timeout.count()) + " s " + missing() +
                        " had not come to port " + std::to_string(launch_.runner_port()) +
                        " (MASTER_PORT + 1) of this machine, which they know as " +
                        launch_.master_address);
    }
    wait(deadline);
    accept_some();
    for (Handshake& handshake : handshakes_) shake_hands(handshake, said);
    std::erase_if(handshakes_, [](const Handshake& handshake) { return handshake.is_done; });
  }
  std::sort(agents_.begin(), agents_.end(),
            [](const Agent& a, const Agent& b) { return a.hello.rank < b.hello.rank; });
  return std::move(agents_);
}

void Listener::wait(Clock::time_point deadline) const {
  std::vector<pollfd> list{{socket_.get(), POLLIN, 0}};
  for (const Handshake& handshake : handshakes_) {
    list.push_back(handshake.connection.awaited());
    deadline = std::min(deadline, handshake.deadline);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  poll(list.data(), list.size(), std::max(0, static_cast<int>(left.count())));
}

void Listener::accept_some() {
  // Not all of a flood at once: the deadline is looked at between, and each of those that came is
  // heard once before it makes room for others.
  for (std::size_t i = 0; i < kMaxHandshakes; ++i) {
    auto socket = accept_at(socket_.get());
    if (!socket) return;
    const std::size_t most = kMaxHandshakes + static_cast<std::size_t>(launch_.ranks);
    if (handshakes_.size() == most) handshakes_.erase(handshakes_.begin());
    try {
      const Ends ends = ends_of(socket->get());
      handshakes_.push_back(
          {Connection(std::move(*socket), kMaxBytesOfHello), ends, Clock::now() + kHelloTimeout});
    } catch (const std::system_error&) {
      // It is gone already.
    }
  }
}

void Listener::shake_hands(Handshake& handshake,
                           const std::function<void(const std::string&)>& said) {
  handshake.connection.exchange();
  const auto frame = handshake.connection.next();
  if (!frame) {
    handshake.is_done = !handshake.connection.lost().empty() || Clock::now() >= handshake.deadline;
    return;
  }
  handshake.is_done = true;
  const auto hello =
      frame->kind == FrameKind::hello ? read_hello(frame->payload) : std::optional<Hello>();
  if (!hello) return;
  const std::string why = why_refused(*hello);
  if (!why.empty()) {
    said("an agent on " + hello->host + " (" + handshake.ends.there + ") was refused: " + why);
    return handshake.connection.send({FrameKind::refused, why});
  }
  handshake.connection.send({FrameKind::welcome, ""});
  handshake.connection.allow(kMaxBytesOfFrame);
  agents_.push_back({*hello, handshake.ends, std::move(handshake.connection)});
}

std::string Listener::why_refused(const Hello& hello) const {
  if (hello.program != here_.program) {
    return "it is " + hello.program + ", rank 0 is " + here_.program;
  }
  if (hello.worker != here_.worker) {
    return "its headroom-worker is another program, with the hash " + hello.worker +
           ", than that of rank 0, with the hash " + here_.worker;
  }
  if (hello.ranks != launch_.ranks) {
    return "it knows of " + std::to_string(hello.ranks) + " ranks, rank 0 of " +
           std::to_string(launch_.ranks);
  }
  if (hello.rank < 1 || hello.rank >= launch_.ranks) {
    return "its rank is " + std::to_string(hello.rank) + "; allowed are 1 to " +
           std::to_string(launch_.ranks - 1);
  }
  const auto same = std::find_if(agents_.begin(), agents_.end(), [&](const Agent& other) {
    return other.hello.rank == hello.rank;
  });
  if (same == agents_.end()) return "";
  return "rank " + std::to_string(hello.rank) + " has come already, from " + same->hello.host;
}

std::string Listener::missing() const {
  std::vector<bool> came(static_cast<std::size_t>(launch_.ranks), false);
  for (const Agent& agent : agents_) came[static_cast<std::size_t>(agent.hello.rank)] = true;
  std::string names;
  std::size_t count = 0;
  for (std::size_t rank = 1; rank < came.size(); ++rank) {
    if (came[rank] || ++count > kMaxNamed) continue;
    names += (names.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (count > kMaxNamed) names += " and " + std::to_string(count - kMaxNamed) + " more";
  return (count == 1 ? "rank " : "ranks ") + names + " of " + std::to_string(launch_.ranks);
}

Agents::Agents(const Launch& launch, const Hello& here, std::chrono::seconds timeout,
               const std::function<void(const std::string&)>& said)
    : launch_(launch), here_(here), all_(Listener(launch, here).accept_all(timeout, said)) {}

Agents::~Agents() {
  for (Agent& agent : all_) agent.connection.send({FrameKind::over, ""});
}

std::string Agents::address_of(std::size_t rank) const {
  const auto far = std::find_if(all_.begin(), all_.end(),
                                [](const Agent& agent) { return !agent.ends.are_one_machine(); });
  if (far == all_.end()) return "";
  // Who is on this machine as well may have come by the loopback interface.
  const bool is_here = rank == 0 || all_.at(rank - 1).ends.are_one_machine();
  return is_here ? far->ends.here : all_.at(rank - 1).ends.there;
}

std::vector<std::int64_t> Agents::threads_of(std::size_t ranks) const {
  std::vector<const Hello*> hellos{&here_};
  std::vector<std::string> keys{key_of("", here_)};
  for (const Agent& agent : all_) {
    hellos.push_back(&agent.hello);
    keys.push_back(key_of(agent.ends.are_one_machine() ? "" : agent.ends.there, agent.hello));
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

std::string Agents::lost() {
  for (Agent& agent : all_) {
    agent.connection.exchange();
    if (agent.connection.next()) agent.lose("it spoke without being asked");
    if (!agent.connection.lost().empty()) agent.lose(agent.connection.lost());
    if (!agent.lost.empty()) return "rank " + std::to_string(agent.hello.rank) + ": " + agent.lost;
  }
  return "";
}

}  // namespace headroom
