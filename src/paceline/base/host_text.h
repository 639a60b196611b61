// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paceline {

/// Whether the text is an IPv6 address, with or without a zone: "fd00::7", "fe80::1%eth0".
bool is_ipv6(std::string_view text);

/// The host, and the text after the colon, of "a:4", "n[1-3]:4" or "[fd00::7]:4".
struct HostText {
  std::string_view host;                    // an address has no brackets here
  std::optional<std::string_view> after{};  // text after the colon; absent if there is no colon
};

/// Splits the text at the first colon outside of brackets; an IPv6 address without brackets has no
/// such colon.  Throws UsageError if brackets enclose a text with colons that is no IPv6 address,
/// if the text after them does not begin with a colon, and if the last group of an address could
/// also be the part after the colon: "fd00::7:4".
HostText split_host(std::string_view text);

/// Returns an address without its brackets, and any other host unchanged.
std::string_view without_brackets(std::string_view host);

/// Returns "a:4000" or "[fd00::7]:4000".
std::string host_port_text(std::string_view host, std::uint16_t port);

/// The host and the port of a text such as "a:4000".  host_port_from() returns nothing for other
/// texts.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};
std::optional<HostPort> host_port_from(std::string_view text);

}  // namespace paceline
