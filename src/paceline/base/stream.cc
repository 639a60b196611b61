// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/stream.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>

#include "paceline/base/clock.h"
#include "paceline/base/descriptor.h"
#include "paceline/base/error.h"

namespace paceline {
namespace {

// A longer poll was interrupted by a stop; it counts as this long.
constexpr std::int64_t kSliceMs = 100;

// Whether `fd` is ready for `events` within `timeout`.  If a stopped process makes a wait longer
// than its slice, the wait counts as one slice.
bool ready_within(int fd, short events, std::chrono::milliseconds timeout) {
  std::int64_t left_ns = std::chrono::nanoseconds(timeout).count();
  while (true) {
    pollfd one{.fd = fd, .events = events, .revents = 0};
    const std::int64_t began = steady_ns();
    const int found = poll(&one, 1, static_cast<int>(kSliceMs));
    if (found > 0) {
      return true;
    }
    if (found < 0 && errno != EINTR) {
      return false;
    }
    left_ns -= std::clamp<std::int64_t>(steady_ns() - began, 1, kSliceMs * 1'000'000);
    if (left_ns <= 0) {
      errno = EAGAIN;
      return false;
    }
  }
}

// Runs `call` once the socket is ready, and again if `call` finds that the socket is not ready.
template <class Call>
ssize_t moved_within(int fd, short events, std::chrono::milliseconds timeout, Call call) {
  while (ready_within(fd, events, timeout)) {
    const ssize_t n = call();
    if (n >= 0 || (errno != EINTR && errno != EAGAIN)) {
      return n;
    }
  }
  return -1;
}

}  // namespace

int connect_within(int fd, const sockaddr* peer, socklen_t length,
                   std::chrono::milliseconds timeout) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return -1;
  }
  int error = connect(fd, peer, length) == 0 ? 0 : errno;
  if (error == EINPROGRESS || error == EINTR) {
    socklen_t size = sizeof error;
    if (!ready_within(fd, POLLOUT, timeout) ||
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
      error = errno;
    }
  }
  if (fcntl(fd, F_SETFL, flags) != 0) {
    return -1;
  }
  errno = error;
  return error == 0 ? 0 : -1;
}

int accept_within(int listener, std::chrono::milliseconds timeout) {
  return static_cast<int>(moved_within(listener, POLLIN, timeout, [&] {
    return static_cast<ssize_t>(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  }));
}

ssize_t send_within(int fd, const char* data, std::size_t size, std::chrono::milliseconds timeout) {
  return moved_within(fd, POLLOUT, timeout,
                      [&] { return send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT); });
}

ssize_t receive_within(int fd, char* data, std::size_t size, std::chrono::milliseconds timeout) {
  return moved_within(fd, POLLIN, timeout, [&] { return recv(fd, data, size, MSG_DONTWAIT); });
}

std::uint16_t free_port() {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (!socket.is_open() || bind(socket.number(), generic, size) != 0 ||
      getsockname(socket.number(), generic, &size) != 0) {
    throw WorldError(fmt::format("this host has no free port: {}", std::strerror(errno)));
  }
  return ntohs(address.sin_port);
}

}  // namespace paceline
