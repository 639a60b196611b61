// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace paceline::launch {

/// A socket that listens, for whoever takes it over, and where it does.
struct Listener {
  int fd = -1;
  std::string address;  // numeric IPv4; 0.0.0.0: every address of this machine
  std::uint16_t port = 0;
};

/// Listens at `host`, an address or a name of this machine, and at no other address; port 0: the
/// kernel chooses one.  Only a name that this machine itself resolves to its loopback, as Debian's
/// /etc/hosts says, means every address, because other hosts resolve the name to another one.
/// Nothing where
/// `host` has no IPv4 address.  Throws UsageError for a port that is taken and
/// for an address of another machine.
std::optional<Listener> listen_at(const std::string& host, std::uint16_t port);

/// Whether something accepts connections at `host`, an address or a name, within a second.  Nothing
/// where `host` has no IPv4 address.
std::optional<bool> is_listened_at(const std::string& host, std::uint16_t port);

/// The numeric address at which a listening IPv4 socket can be reached from this machine.
std::string reachable_address(int listening);

/// 128 random bits from the kernel as hexadecimal digits.
std::string random_token();

}  // namespace paceline::launch
