// SPDX-License-Identifier: Apache-2.0
#include "src/core/tcp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace headroom {
namespace {

// A machine that is gone says nothing of it: its silence ends a connection after these seconds.
constexpr int kIdleSeconds = 10;
constexpr int kProbeSeconds = 5;
constexpr int kProbes = 3;
constexpr int kUnansweredMs = 25'000;

void set_option(int socket, int level, int name, int value) {
  setsockopt(socket, level, name, &value, sizeof value);
}

void watch_peer(int socket) {
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnansweredMs);
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

FileDescriptor make_socket(int family) {
  return FileDescriptor(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// An address to listen at.
struct Local {
  sockaddr_storage address{};
  socklen_t size = 0;
};

Local any_v6(int port) {
  Local local;
  auto& v6 = reinterpret_cast<sockaddr_in6&>(local.address);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(static_cast<std::uint16_t>(port));
  v6.sin6_addr = in6addr_any;
  local.size = sizeof v6;
  return local;
}

Local any_v4(int port) {
  Local local;
  auto& v4 = reinterpret_cast<sockaddr_in&>(local.address);
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<std::uint16_t>(port));
  v4.sin_addr.s_addr = htonl(INADDR_ANY);
  local.size = sizeof v4;
  return local;
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

std::unique_ptr<addrinfo, FreeAddresses> find_addresses(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) {
    throw std::runtime_error(error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error));
  }
  return std::unique_ptr<addrinfo, FreeAddresses>(list);
}

/// 0, or why it did not connect.
int try_connect(int socket, const addrinfo& address, std::chrono::milliseconds timeout) {
  if (connect(socket, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd wait{socket, POLLOUT, 0};
  if (poll(&wait, 1, static_cast<int>(timeout.count())) == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

std::string text_of(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.sa_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text.data(),
              text.size());
    return text.data();
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text.data(), text.size());
    return text.data();
  }
  inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  if (!IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr)) return text.data();
  return std::string(text.data()) + "%" + std::to_string(v6.sin6_scope_id);
}

/// Of an address as text_of() writes it.
bool is_loopback(const std::string& address) {
  return address == "::1" || address.starts_with("127.");
}

bool is_any(const std::string& address) { return address == "::" || address == "0.0.0.0"; }

/// The first of the host's addresses, of IPv4 if there is one, where it is listened on alone.
/// Nothing: all interfaces are.
std::optional<Local> find_local(const std::string& host, int port, bool only_there) {
  try {
    const auto list = find_addresses(host, port);
    const addrinfo* chosen = list.get();
    bool is_loopback_alone = true;
    for (const addrinfo* next = list.get(); next != nullptr; next = next->ai_next) {
      is_loopback_alone = is_loopback_alone && is_loopback(text_of(*next->ai_addr));
      if (next->ai_family == AF_INET && chosen->ai_family != AF_INET) chosen = next;
    }
    if (!is_loopback_alone && !only_there) return std::nullopt;
    if (is_any(text_of(*chosen->ai_addr))) return std::nullopt;
    Local local{.size = chosen->ai_addrlen};
    std::memcpy(&local.address, chosen->ai_addr, chosen->ai_addrlen);
    return local;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

/// Below 0: errno says why not.
FileDescriptor listen_at(const Local& local) {
  FileDescriptor listener = make_socket(local.address.ss_family);
  if (listener.get() < 0) return {};
  set_option(listener.get(), SOL_SOCKET, SO_REUSEADDR, 1);  // an earlier run's port, just closed
  if (local.address.ss_family == AF_INET6) {
    set_option(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  }
  const auto* address = reinterpret_cast<const sockaddr*>(&local.address);
  if (bind(listener.get(), address, local.size) == 0 && listen(listener.get(), SOMAXCONN) == 0) {
    return listener;
  }
  const int reason = errno;
  listener.reset();
  errno = reason;
  return {};
}

/// As above. One socket of IPv6 serves both; there may be none.
FileDescriptor listen_at_all(int port) {
  FileDescriptor listener = listen_at(any_v6(port));
  return listener.get() < 0 && errno == EAFNOSUPPORT ? listen_at(any_v4(port))
                                                     : std::move(listener);
}

}  // namespace

bool Ends::are_one_machine() const {
  // From 127.0.0.1 one may have come to 127.0.1.1, which Debian gives to a machine's own name.
  return here == there || (is_loopback(here) && is_loopback(there));
}

FileDescriptor listen_on(const std::string& host, int port, bool only_there) {
  const auto local = find_local(host, port, only_there);
  FileDescriptor listener = local ? listen_at(*local) : listen_at_all(port);
  // A machine may be known by an address that another one passes on to it.
  if (listener.get() < 0 && local && errno == EADDRNOTAVAIL) listener = listen_at_all(port);
  if (listener.get() < 0) throw_errno("listen");
  return listener;
}

std::optional<FileDescriptor> accept_at(int listener) {
  FileDescriptor socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.get() >= 0) {
    watch_peer(socket.get());
    return socket;
  }
  if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
    throw_errno("accept");
  return std::nullopt;  // none waits, or it went away before it was accepted
}

FileDescriptor connect_to(const std::string& host, int port, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto list = find_addresses(host, port);
  int error = ETIMEDOUT;
  for (const addrinfo* next = list.get(); next != nullptr; next = next->ai_next) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    FileDescriptor socket = make_socket(next->ai_family);
    error = socket.get() < 0 ? errno : try_connect(socket.get(), *next, left);
    if (error != 0) continue;
    watch_peer(socket.get());
    return socket;
  }
  throw std::runtime_error(std::strerror(error));
}

bool is_for_now(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

bool send_some(int socket, std::string& unsent) {
  while (!unsent.empty()) {
    const ssize_t count = send(socket, unsent.data(), unsent.size(), MSG_NOSIGNAL);
    if (count < 0) return is_for_now(errno);
    unsent.erase(0, static_cast<std::size_t>(count));
  }
  return true;
}

Ends ends_of(int socket) {
  sockaddr_storage here{};
  sockaddr_storage there{};
  socklen_t size = sizeof here;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&here), &size) != 0)
    throw_errno("getsockname");
  size = sizeof there;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&there), &size) != 0)
    throw_errno("getpeername");
  return {text_of(reinterpret_cast<const sockaddr&>(here)),
          text_of(reinterpret_cast<const sockaddr&>(there))};
}

}  // namespace headroom
