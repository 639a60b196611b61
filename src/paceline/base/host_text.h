// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paceline {

/// Whether the text is an IPv6 address, with or without a zone: "fd00::7", "fe80::1%eth0".
bool is_ipv6(std::string_view text);

/// What stands before and behind the colon of "a:4", "n[1-3]:4" or "[fd00::7]:4".
struct HostText {
  std::string_view host;                    // an address without its brackets
  std::optional<std::string_view> after{};  // absent where there is no colon
};

/// Splits the text at the first colon outside of brackets; an IPv6 address without brackets has no
/// such colon.  Throws UsageError for brackets around a text with colons that is no IPv6 address,
/// for text behind them that begins with no colon, and for an address whose last group may be meant
/// as what follows the colon: "fd00::7:4".
HostText split_host(std::string_view text);

/// The address without its brackets, any other host as it is.
std::string_view without_brackets(std::string_view host);

/// "a:4000", "[fd00::7]:4000"
std::string host_port_text(std::string_view host, std::uint16_t port);

/// The host and the port of such a text; nothing where it is none.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};
std::optional<HostPort> host_port_from(std::string_view text);

}  // namespace paceline
