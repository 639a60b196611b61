// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/network_interface.h"

#include <memory>
#include <set>

#include <arpa/inet.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "paceline/base/descriptor.h"
#include "paceline/base/error.h"

namespace paceline::launch {
namespace {

using Addresses = std::unique_ptr<ifaddrs, decltype(&freeifaddrs)>;

Addresses addresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) {
    first = nullptr;
  }
  return {first, &freeifaddrs};
}

// Calls `use` for each IPv4 address of an interface that is up.
template <class Use>
void for_each_ipv4(const Use& use) {
  const auto all = addresses();
  for (const ifaddrs* one = all.get(); one; one = one->ifa_next) {
    if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) != 0) {
      const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
      use(*one, address->sin_addr.s_addr);
    }
  }
}

// This machine's address on the route to other networks. Connecting a datagram socket finds it
// without sending anything.
in_addr_t outward_address() {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const int fd = socket.number();
  sockaddr_in far{};
  far.sin_family = AF_INET;
  far.sin_port = htons(9);
  inet_pton(AF_INET, "192.0.2.1", &far.sin_addr);  // an address reserved for documentation
  sockaddr_in own{};
  socklen_t length = sizeof own;
  const bool found = fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&far), sizeof far) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) == 0;
  return found ? own.sin_addr.s_addr : INADDR_ANY;
}

}  // namespace

std::string outward_interface() {
  const auto outward = outward_address();
  std::string routed, first;
  for_each_ipv4([&](const ifaddrs& one, in_addr_t address) {
    if (routed.empty() && address == outward) {
      routed = one.ifa_name;
    }
    if (first.empty() && (one.ifa_flags & IFF_LOOPBACK) == 0) {
      first = one.ifa_name;
    }
  });
  return routed.empty() ? first : routed;
}

void require_interface(const std::string& name) {
  std::set<std::string> known;
  for_each_ipv4([&](const ifaddrs& one, in_addr_t) { known.insert(one.ifa_name); });
  if (!known.contains(name)) {
    throw UsageError(fmt::format(
        "--interface {}: this host has no such interface with an IPv4 address; it has {}", name,
        fmt::join(known, ", ")));
  }
}

std::string interface_address(const std::string& name) {
  std::string text;
  for_each_ipv4([&](const ifaddrs& one, in_addr_t address) {
    char buffer[INET_ADDRSTRLEN] = {};
    if (text.empty() && one.ifa_name == name &&
        inet_ntop(AF_INET, &address, buffer, sizeof buffer) != nullptr) {
      text = buffer;
    }
  });
  return text;
}

}  // namespace paceline::launch
