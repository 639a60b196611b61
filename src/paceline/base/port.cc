// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/port.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "paceline/base/descriptor.h"
#include "paceline/base/error.h"

namespace paceline {

std::uint16_t free_port() {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (!socket.is_open() || bind(socket.number(), generic, size) != 0 ||
      getsockname(socket.number(), generic, &size) != 0) {
    throw WorldError(
        fmt::format("this host has no free port: {}", std::strerror(errno)));
  }
  return ntohs(address.sin_port);
}

}  // namespace paceline
