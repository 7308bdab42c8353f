// SPDX-License-Identifier: Apache-2.0
#include "src/runner/reception.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "src/core/error.h"

namespace headroom {
namespace {

constexpr std::size_t kMostBytesOfHello = 4096;
constexpr std::size_t kMostBytesOfFrame = 128 * 1024;  // a deputy passes on what it reads at once
constexpr std::size_t kMostStrangers = 64;             // besides those that are awaited
constexpr std::chrono::seconds kToSayHello{5};
constexpr std::size_t kMostNamed = 8;

FileDescriptor listen(const Launch& launch, int port, const std::string& name) {
  try {
    return listen_on(launch.master_address, port);
  } catch (const std::system_error& error) {
    throw Unsupported("port " + std::to_string(port) + " (" + name + ") can't be listened on: " +
                      error.code().message() + "; choose another MASTER_PORT (torchrun: " +
                      "--master-port), with the two ports behind it free as well");
  }
}

}  // namespace

Reception::Reception(const Launch& launch, const Hello& here)
    : launch_(launch),
      here_(here),
      listener_(listen(launch, launch.runner_port(), "MASTER_PORT + 1")) {
  // The workers of rank 0 will: better said now than in each case.
  listen(launch, launch.store_port(), "MASTER_PORT + 2");
}

std::vector<Deputy> Reception::receive(std::chrono::seconds patience,
                                       const std::function<void(const std::string&)>& said) {
  const auto deadline = Clock::now() + patience;
  while (deputies_.size() + 1 < static_cast<std::size_t>(launch_.ranks)) {
    if (Clock::now() >= deadline) {
      throw Unsupported("after " + std::to_string(patience.count()) + " s " + missing() +
                        " had not come to port " + std::to_string(launch_.runner_port()) +
                        " (MASTER_PORT + 1) of this machine, which they know as " +
                        launch_.master_address);
    }
    wait(deadline);
    let_in();
    for (Stranger& stranger : strangers_) hear(stranger, said);
    std::erase_if(strangers_, [](const Stranger& stranger) { return stranger.is_done; });
  }
  std::sort(deputies_.begin(), deputies_.end(),
            [](const Deputy& a, const Deputy& b) { return a.hello.rank < b.hello.rank; });
  return std::move(deputies_);
}

void Reception::wait(Clock::time_point deadline) const {
  std::vector<pollfd> list{{listener_.get(), POLLIN, 0}};
  for (const Stranger& stranger : strangers_) {
    list.push_back(stranger.connection.awaited());
    deadline = std::min(deadline, stranger.leaves_at);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  poll(list.data(), list.size(), std::max(0, static_cast<int>(left.count())));
}

void Reception::let_in() {
  while (auto socket = accept_at(listener_.get())) {
    // Who says nothing makes room for others.
    const std::size_t most = kMostStrangers + static_cast<std::size_t>(launch_.ranks);
    if (strangers_.size() == most) strangers_.erase(strangers_.begin());
    try {
      const Ends ends = ends_of(socket->get());
      strangers_.push_back(
          {Connection(std::move(*socket), kMostBytesOfHello), ends, Clock::now() + kToSayHello});
    } catch (const std::system_error&) {
      // It is gone already.
    }
  }
}

void Reception::hear(Stranger& stranger, const std::function<void(const std::string&)>& said) {
  stranger.connection.exchange();
  const auto frame = stranger.connection.next();
  if (!frame) {
    stranger.is_done = !stranger.connection.lost().empty() || Clock::now() >= stranger.leaves_at;
    return;
  }
  stranger.is_done = true;
  const auto hello =
      frame->kind == FrameKind::hello ? read_hello(frame->payload) : std::optional<Hello>();
  if (!hello) return;
  const std::string why = why_refused(*hello);
  if (!why.empty()) {
    said("a deputy on " + hello->host + " (" + stranger.ends.there + ") was refused: " + why);
    return stranger.connection.send({FrameKind::refused, why});
  }
  stranger.connection.send({FrameKind::welcome, ""});
  stranger.connection.allow(kMostBytesOfFrame);
  deputies_.push_back({*hello, stranger.ends, std::move(stranger.connection)});
}

std::string Reception::why_refused(const Hello& hello) const {
  if (hello.program != here_.program) {
    return "it is " + hello.program + ", rank 0 is " + here_.program;
  }
  if (hello.ranks != launch_.ranks) {
    return "it knows of " + std::to_string(hello.ranks) + " ranks, rank 0 of " +
           std::to_string(launch_.ranks);
  }
  if (hello.rank < 1 || hello.rank >= launch_.ranks) {
    return "its rank is " + std::to_string(hello.rank) + "; allowed are 1 to " +
           std::to_string(launch_.ranks - 1);
  }
  const auto same = std::find_if(deputies_.begin(), deputies_.end(), [&](const Deputy& other) {
    return other.hello.rank == hello.rank;
  });
  if (same == deputies_.end()) return "";
  return "rank " + std::to_string(hello.rank) + " has come already, from " + same->hello.host;
}

std::string Reception::missing() const {
  std::vector<bool> came(static_cast<std::size_t>(launch_.ranks), false);
  for (const Deputy& deputy : deputies_) came[static_cast<std::size_t>(deputy.hello.rank)] = true;
  std::string names;
  std::size_t count = 0;
  for (std::size_t rank = 1; rank < came.size(); ++rank) {
    if (came[rank] || ++count > kMostNamed) continue;
    names += (names.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (count > kMostNamed) names += " and " + std::to_string(count - kMostNamed) + " more";
  return (count == 1 ? "rank " : "ranks ") + names + " of " + std::to_string(launch_.ranks);
}

}  // namespace headroom
