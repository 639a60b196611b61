// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/cluster/cluster.h"

namespace paceline::cluster {
namespace {

int parse_slots(std::string_view host, std::string_view text) {
  int slots = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, slots);
  const bool beyond =
      error == std::errc::result_out_of_range && !text.starts_with('-');
  if (rest != end || (!beyond && slots < 1)) {
    throw UsageError(
        fmt::format("host '{}' has '{}' slots; it needs a whole number above 0",
                    host,
                    text));
  }
  if (beyond || slots > kMostSlots) {
    throw UsageError(
        fmt::format("host '{}' has {} slots; at most {} are "
                    "supported",
                    host,
                    text,
                    kMostSlots));
  }
  return slots;
}

/// "name", "name:4"
ClusterHost parse_host(std::string_view text) {
  const auto colon = text.find(':');
  if (colon != text.rfind(':')) {
    throw UsageError(fmt::format(
        "'{}' has more than one colon; hosts are written a:4,b:4", text));
  }
  const std::string_view name = text.substr(0, colon);
  if (name.empty()) {
    throw UsageError(
        fmt::format("'{}' names no host; hosts are written a:4,b:4", text));
  }
  return {.name = std::string(name),
          .slots = colon == std::string_view::npos
                       ? 1
                       : parse_slots(name, text.substr(colon + 1))};
}

std::string_view after(std::string_view line, std::size_t blank) {
  return blank == std::string_view::npos ? "" : trimmed(line.substr(blank));
}

/// What may follow a host's name in a hostfile: Open MPI's slots=4 and
/// max-slots=8 (or max_slots), which says nothing of how many to start.
void read_host_word(std::string_view word, ClusterHost& host) {
  const auto equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? "" : word.substr(equals + 1);
  if (key == "slots") {
    host.slots = parse_slots(host.name, value);
  } else if ((key != "max-slots" && key != "max_slots") || value.empty()) {
    throw UsageError(
        fmt::format("'{}' is not understood; lines are NAME, NAME:4 or NAME "
                    "slots=4",
                    word));
  }
}

/// A line of a hostfile that is not blank.
ClusterHost read_host_line(std::string_view line) {
  const auto blank = line.find_first_of(" \t");
  ClusterHost host = parse_host(line.substr(0, blank));
  for (std::string_view rest = after(line, blank); !rest.empty();) {
    const auto end = rest.find_first_of(" \t");
    read_host_word(rest.substr(0, end), host);
    rest = after(rest, end);
  }
  return host;
}

/// A host that comes again adds its slots.
void add_host(ClusterHost host, std::vector<ClusterHost>& hosts) {
  const auto known = std::ranges::find(hosts, host.name, &ClusterHost::name);
  if (known == hosts.end()) {
    hosts.push_back(std::move(host));
    return;
  }
  if (known->slots > kMostSlots - host.slots) {
    throw UsageError(fmt::format(
        "host '{}' has more than {} slots in all", host.name, kMostSlots));
  }
  known->slots += host.slots;
}

}  // namespace

std::vector<ClusterHost> parse_host_list(std::string_view text) {
  std::vector<ClusterHost> hosts;
  while (true) {
    const auto comma = text.find(',');
    add_host(parse_host(trimmed(text.substr(0, comma))), hosts);
    if (comma == std::string_view::npos) {
      return hosts;
    }
    text.remove_prefix(comma + 1);
  }
}

std::vector<ClusterHost> parse_hostfile(std::string_view text,
                                        const std::string& file) {
  std::vector<ClusterHost> hosts;
  int number = 0;
  for (const std::string& full : split_lines(text)) {
    ++number;
    if (full.find('\0') != std::string::npos) {
      throw UsageError(fmt::format(
          "{}:{}: it has a NUL byte; a hostfile is text", file, number));
    }
    const std::string_view line =
        trimmed(std::string_view(full).substr(0, full.find('#')));
    if (line.empty()) {
      continue;
    }
    try {
      add_host(read_host_line(line), hosts);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", file, number, error.what()));
    }
  }
  if (hosts.empty()) {
    throw UsageError(fmt::format("{}: names no host", file));
  }
  return hosts;
}

}  // namespace paceline::cluster
