// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/port.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paceline/base/error.h"

namespace paceline {

std::uint16_t free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool found = descriptor >= 0 && bind(descriptor, generic, size) == 0 &&
                     getsockname(descriptor, generic, &size) == 0;
  const int error = errno;
  if (descriptor >= 0) {
    close(descriptor);
  }
  if (!found) {
    throw WorldError(
        fmt::format("this host has no free port: {}", std::strerror(error)));
  }
  return ntohs(address.sin_port);
}

}  // namespace paceline
