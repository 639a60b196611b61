// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/line_rate.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "paceline/base/clock.h"
#include "paceline/base/descriptor.h"
#include "paceline/base/error.h"
#include "paceline/base/stream.h"
#include "paceline/launch/listener.h"
#include "paceline/launch/network_interface.h"

namespace paceline::engines {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kReceiveBytes = 1 << 20;
constexpr std::int64_t kSectionChunks = 32;  // length, in chunks, of the sections whose rates are
                                             // compared
constexpr milliseconds kDuration{1000};

[[noreturn]] void reject(const char* what) {
  throw WorldError(fmt::format("measuring the line rate: {}: {}", what,
                               errno == EAGAIN ? "nothing moves" : std::strerror(errno)));
}

Descriptor opened(int socket) {
  if (socket < 0) {
    reject("socket");
  }
  return Descriptor(socket);
}

// Sends bytes until the time is over, then closes the connection, by which the receiver sees the
// end of the stream.
void send_stream(const std::string& address, milliseconds timeout) {
  const auto colon = address.rfind(':');
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &peer.sin_addr);
  const Descriptor socket = opened(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect_within(socket.number(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer,
                     timeout) != 0) {
    reject("connect");
  }
  const std::vector<char> chunk(kReceiveBytes, 'x');
  const std::int64_t end = steady_ns() + std::chrono::nanoseconds(kDuration).count();
  while (steady_ns() < end) {
    for (std::size_t sent = 0; sent < kReceiveBytes;) {
      const ssize_t n =
          send_within(socket.number(), chunk.data() + sent, kReceiveBytes - sent, timeout);
      if (n < 0) {
        reject("send");
      }
      sent += static_cast<std::size_t>(n);
    }
  }
}

// Receives the stream until its end.  Returns the rate of its fastest section in bytes per second,
// or of the whole stream if it is shorter than a section.
double received_bytes_per_s(int fd, milliseconds timeout) {
  std::vector<char> chunk(kReceiveBytes);
  std::vector<std::int64_t> arrived{steady_ns()};  // arrival time of every whole chunk
  std::size_t filled = 0;
  while (true) {
    const ssize_t n = receive_within(fd, chunk.data() + filled, kReceiveBytes - filled, timeout);
    if (n < 0) {
      reject("receive");
    }
    if (n == 0) {
      break;
    }
    filled += static_cast<std::size_t>(n);
    if (filled == kReceiveBytes) {
      arrived.push_back(steady_ns());
      filled = 0;
    }
  }
  const auto chunks = static_cast<std::int64_t>(arrived.size()) - 1;
  if (chunks < 1) {
    throw WorldError("measuring the line rate: the stream broke off at once");
  }
  const auto stretch = static_cast<std::size_t>(std::min(kSectionChunks, chunks));
  double fastest = 0;
  for (std::size_t i = stretch; i < arrived.size(); ++i) {
    const auto ns = std::max<std::int64_t>(1, arrived[i] - arrived[i - stretch]);
    fastest = std::max(
        fastest, static_cast<double>(stretch * kReceiveBytes) / (static_cast<double>(ns) * 1e-9));
  }
  return fastest;
}

double served_bytes_per_s(launch::PrefixStore& store, const std::string& key,
                          const std::string& interface, milliseconds timeout) {
  const std::string address = launch::interface_address(interface);
  if (address.empty()) {
    throw WorldError(
        fmt::format("measuring the line rate: interface '{}' has no IPv4 address", interface));
  }
  const launch::Listener listener = launch::listen_at(address, 0).value();
  const Descriptor socket(listener.fd);
  store.set(key, fmt::format("{}:{}", address, listener.port));
  const Descriptor stream = opened(accept_within(socket.number(), timeout));
  return received_bytes_per_s(stream.number(), timeout);
}

// Returns the rank that sends; the next one receives.
int sender_in(const World& world) {
  const auto other = std::ranges::find_if(
      world.hosts, [&](const std::string& host) { return host != world.hosts.front(); });
  return other == world.hosts.end() ? 0 : static_cast<int>(other - world.hosts.begin()) - 1;
}

}  // namespace

double measure_line_rate(const World& world, launch::PrefixStore& store,
                         const std::string& interface, milliseconds timeout) {
  PACELINE_CHECK(world.self.world >= 2);
  const std::string address = "line/address", rate = "line/rate";
  if (world.self.rank == sender_in(world)) {
    send_stream(store.wait(address), timeout);
  } else if (world.self.rank == sender_in(world) + 1) {
    store.set(rate, fmt::format("{}", served_bytes_per_s(store, address, interface, timeout)));
  }
  return std::stod(store.wait(rate));
}

}  // namespace paceline::engines
