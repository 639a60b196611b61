// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paceline/cli/doctor.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/launch/network_interface.h"

namespace paceline::cli {
namespace {

/// The first IPv4 address that `host` stands for; empty where there is none.
std::string address_of(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) {
    return "";
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> guard(found, &freeaddrinfo);
  char text[INET_ADDRSTRLEN] = "";
  const auto* address = reinterpret_cast<const sockaddr_in*>(found->ai_addr);
  inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text));
  return text;
}

Finding check_host_name() {
  const std::string host = launch::host_name();
  const std::string address = address_of(host);
  Finding finding{.name = "host name", .seen = host + " is " + address};
  if (address.empty()) {
    finding.health = Health::kAdvice;
    finding.seen = host + " has no address";
    finding.advice =
        "Paceline goes by the interface and does not need it; for PyTorch's own launchers and "
        "other hosts, add a line to /etc/hosts";
  } else if (address.starts_with("127.")) {
    finding.seen +=
        ", a loopback address: engines are given the interface "
        "below instead of the name";
  }
  return finding;
}

Finding check_loopback() {
  Finding finding{.name = "loopback", .seen = "127.0.0.1 accepts a listener"};
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool listens = fd >= 0 &&
                       bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
                       listen(fd, 1) == 0;
  if (fd >= 0) {
    close(fd);
  }
  if (!listens) {
    finding.health = Health::kBroken;
    finding.seen = "127.0.0.1 rejects a listener";
    finding.advice = "ranks of one host meet there: ip link set lo up";
  }
  return finding;
}

Finding check_interface() {
  const std::string name = launch::outward_interface();
  if (name.empty()) {
    return {.name = "interface",
            .health = Health::kAdvice,
            .seen = "none but the loopback: runs on this host alone",
            .advice =
                "for several hosts, bring an interface with an IPv4 "
                "address up"};
  }
  return {
      .name = "interface",
      .seen = fmt::format(
          "several hosts would talk over {} (--interface takes another); ranks of one host over lo",
          name)};
}

}  // namespace

std::vector<Finding> check_network() {
  return {check_host_name(), check_loopback(), check_interface()};
}

}  // namespace paceline::cli
