// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/host_text.h"

#include <algorithm>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"

namespace paceline {
namespace {

/// Splits a text such as "[fd00::7]:4"; `close` is the index of the closing bracket.
HostText split_bracketed(std::string_view text, std::size_t close) {
  const std::string_view address = text.substr(1, close - 1);
  const std::string_view rest = text.substr(close + 1);
  if (!is_ipv6(address) || (!rest.empty() && !rest.starts_with(':'))) {
    throw UsageError(fmt::format("'{}' is no IPv6 address in brackets, such as [fd00::7]:4", text));
  }
  return {address, rest.empty() ? std::nullopt : std::optional(rest.substr(1))};
}

}  // namespace

bool is_ipv6(std::string_view text) {
  const std::string address(text.substr(0, text.find('%')));
  in6_addr parsed{};
  return inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

HostText split_host(std::string_view text) {
  const std::size_t close = text.find(']');
  if (text.starts_with('[') && close != std::string_view::npos &&
      text.substr(0, close).find(':') != std::string_view::npos) {
    return split_bracketed(text, close);
  }
  if (is_ipv6(text)) {
    const std::size_t last = text.rfind(':');
    if (is_ipv6(text.substr(0, last))) {
      throw UsageError(fmt::format("'{}' can be read in two ways; write [{}], or [{}]:{}", text,
                                   text, text.substr(0, last), text.substr(last + 1)));
    }
    return {text};
  }
  const std::size_t brackets = text.rfind(']');
  const std::size_t colon = text.find(':', brackets == std::string_view::npos ? 0 : brackets);
  return colon == std::string_view::npos ? HostText{text}
                                         : HostText{text.substr(0, colon), text.substr(colon + 1)};
}

std::string_view without_brackets(std::string_view host) {
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']' &&
                        is_ipv6(host.substr(1, host.size() - 2));
  return brackets ? host.substr(1, host.size() - 2) : host;
}

std::string host_port_text(std::string_view host, std::uint16_t port) {
  return is_ipv6(host) ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::optional<HostPort> host_port_from(std::string_view text) {
  const HostText split = split_host(text);
  const auto port = number_from<std::uint16_t>(split.after.value_or(""));
  if (split.host.empty() || port.value_or(0) == 0) {
    return std::nullopt;
  }
  return HostPort{std::string(split.host), *port};
}

}  // namespace paceline
