// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/listener.h"

#include <cerrno>
#include <cstring>
#include <random>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "paceline/base/descriptor.h"
#include "paceline/base/error.h"
#include "paceline/base/host_text.h"
#include "paceline/base/stream.h"

namespace paceline::launch {
namespace {

constexpr std::uint32_t kLoopbackNet = 127;

bool is_loopback(in_addr address) { return ntohl(address.s_addr) >> 24 == kLoopbackNet; }

std::string text_of(in_addr address) {
  std::string text(INET_ADDRSTRLEN, '\0');
  inet_ntop(AF_INET, &address, text.data(), INET_ADDRSTRLEN);
  return text.c_str();
}

std::optional<in_addr> resolve(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) {
    return std::nullopt;
  }
  const in_addr address = reinterpret_cast<sockaddr_in*>(found->ai_addr)->sin_addr;
  freeaddrinfo(found);
  return address;
}

// The address to listen at: every address if `host` is a name that this machine resolves to its
// loopback.
std::optional<in_addr> address_of(const std::string& host) {
  std::optional<in_addr> address = resolve(host);
  in_addr numeric{};
  if (address && is_loopback(*address) && host != "localhost" &&
      inet_pton(AF_INET, host.c_str(), &numeric) != 1) {
    address->s_addr = htonl(INADDR_ANY);
  }
  return address;
}

[[noreturn]] void reject(const std::string& host, std::uint16_t port, int error) {
  if (error == EADDRINUSE && port != 0) {
    throw UsageError(
        fmt::format("port {} is taken on this host, so the ranks cannot meet at {}; choose another "
                    "by --rendezvous HOST:PORT",
                    port, host_port_text(host, port)));
  }
  if (error == EADDRNOTAVAIL) {
    throw UsageError(
        fmt::format("the ranks cannot meet at {}, because {} is no address of this "
                    "host; give one that is by --rendezvous HOST:PORT",
                    host_port_text(host, port), host));
  }
  throw WorldError(fmt::format("the ranks' store could not be opened at {}: {}",
                               host_port_text(host, port), std::strerror(error)));
}

}  // namespace

std::optional<Listener> listen_at(const std::string& host, std::uint16_t port) {
  const auto found = address_of(host);
  if (!found) {
    return std::nullopt;
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr = *found;
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const int reuse = 1;
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int fd = socket.number();
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) != 0 ||
      bind(fd, generic, length) != 0 || listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, generic, &length) != 0) {
    reject(host, port, errno);
  }
  return Listener{socket.release(), text_of(address.sin_addr), ntohs(address.sin_port)};
}

std::optional<bool> is_listened_at(const std::string& host, std::uint16_t port) {
  const std::optional<in_addr> resolved = resolve(host);
  if (!resolved) {
    return std::nullopt;
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr = *resolved;
  address.sin_port = htons(port);
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) {
    return std::nullopt;
  }
  return connect_within(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address,
                        std::chrono::seconds(1)) == 0;
}

std::string reachable_address(int listening) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  if (getsockname(listening, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      address.sin_addr.s_addr == htonl(INADDR_ANY)) {
    return "127.0.0.1";
  }
  return text_of(address.sin_addr);
}

std::string random_token() {
  std::random_device random;
  std::string token;
  for (int word = 0; word < 4; ++word) {
    token += fmt::format("{:08x}", random());
  }
  return token;
}

}  // namespace paceline::launch
