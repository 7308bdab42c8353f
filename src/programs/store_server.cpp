// SPDX-License-Identifier: Apache-2.0
#include "src/programs/store_server.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "src/core/tcp.h"

namespace headroom {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

}  // namespace

StoreServer::StoreServer(PlayedStore::Values of_others)
    : listener_(listen_on(kLoopback, 0)), store_(std::move(of_others)) {}

int StoreServer::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  if (getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw_errno("getsockname");
  }
  return ntohs(address.sin_port);
}

std::vector<pollfd> StoreServer::awaited() const {
  std::vector<pollfd> list{{listener_.get(), POLLIN, 0}};
  for (const Client& client : clients_) {
    const int events = client.unsent.empty() ? POLLIN : POLLIN | POLLOUT;
    list.push_back({client.socket.get(), static_cast<short>(events), 0});
  }
  return list;
}

void StoreServer::exchange() {
  while (auto socket = accept_at(listener_.get())) {
    clients_.push_back({.socket = std::move(*socket)});
  }
  for (Client& client : clients_) {
    read(client);
    take_requests(client);
  }
  answer_those_who_wait();
  for (Client& client : clients_) {
    client.is_over = !send_some(client.socket.get(), client.unsent) || client.is_over;
  }
  clients_.remove_if([](const Client& client) { return client.is_over; });
}

std::string StoreServer::why_stuck(Clock::time_point now) const {
  if (!fault_.empty()) return fault_;
  for (const Client& client : clients_) {
    if (!client.waiting || now - client.since < kPatience) continue;
    const auto key = store_.missing(client.waiting->keys);
    if (key) return "it waits for '" + *key + "' in its store, which no rank that runs sets";
  }
  return "";
}

void StoreServer::read(Client& client) {
  std::array<char, 1 << 16> buffer;
  const ssize_t count = recv(client.socket.get(), buffer.data(), buffer.size(), 0);
  if (count > 0) return client.reader.take({buffer.data(), static_cast<std::size_t>(count)});
  client.is_over = count == 0 || !is_for_now(errno);
}

void StoreServer::take_requests(Client& client) {
  while (auto request = client.reader.next()) {
    client.is_valid = client.is_valid || request->verb == StoreVerb::validate;
    if (!client.is_valid) client.is_over = true;
    if (client.is_over) return;
    client.waiting.reset();  // a wait is cancelled by whoever waits
    const auto answer = store_.answer(*request);
    client.unsent += answer.value_or("");
    if (answer) continue;
    client.waiting = std::move(request);
    client.since = Clock::now();
  }
  if (client.reader.fault().empty()) return;
  client.is_over = true;
  if (client.is_valid) fault_ = "its store can't answer: " + client.reader.fault();
}

/// What one sets may be what another waits for.
void StoreServer::answer_those_who_wait() {
  for (Client& client : clients_) {
    if (!client.waiting) continue;
    const auto answer = store_.answer(*client.waiting);
    if (!answer) continue;
    client.unsent += *answer;
    client.waiting.reset();
  }
}

}  // namespace headroom
