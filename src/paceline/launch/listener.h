// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace paceline::launch {

/// A listening socket, which its user must take over, and its address.
struct Listener {
  int fd = -1;
  std::string address;  // numeric IPv4; 0.0.0.0: all of this machine
  std::uint16_t port = 0;
};

/// Listens at `host`, an address or a name of this machine; for port 0 the kernel chooses a port.
/// No other address is used, with one exception: a name that this machine itself resolves to its
/// loopback, as in Debian's /etc/hosts, stands for every address, because other hosts resolve this
/// name differently. Returns nothing if `host` has no IPv4 address. Throws UsageError for a port
/// that is in use and for an address of another machine.
std::optional<Listener> listen_at(const std::string& host, std::uint16_t port);

/// Whether a connection to `host`, an address or a name, succeeds within a second. Returns nothing
/// if `host` has no IPv4 address.
std::optional<bool> is_listened_at(const std::string& host, std::uint16_t port);

/// Returns the numeric address at which a listening IPv4 socket can be reached from this machine.
std::string reachable_address(int listening);

/// Returns 128 random bits from the kernel as hexadecimal digits.
std::string random_token();

}  // namespace paceline::launch
