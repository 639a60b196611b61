// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <map>
#include <span>
#include <sstream>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/host_text.h"
#include "paceline/base/node_list.h"
#include "paceline/base/text.h"
#include "paceline/cluster/cluster.h"

namespace paceline::cluster {
namespace {

int parse_slots(std::string_view host, std::string_view text) {
  int slots = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, slots);
  const bool beyond = error == std::errc::result_out_of_range && !text.starts_with('-');
  if (rest != end || (!beyond && slots < 1)) {
    throw UsageError(
        fmt::format("host '{}' has '{}' slots; it needs a whole number above 0", host, text));
  }
  if (beyond || slots > kMostSlots) {
    throw UsageError(
        fmt::format("host '{}' has {} slots; at most {} are "
                    "supported",
                    host, text, kMostSlots));
  }
  return slots;
}

/// Returns one host, or the hosts of a node list, each with `slots` slots.
std::vector<ClusterHost> hosts_of(std::string_view names, int slots) {
  std::vector<std::string> expanded = {std::string(names)};
  if (names.find_first_of("[]") != std::string_view::npos) {
    expanded = expand_node_list(names);
  }
  std::vector<ClusterHost> hosts;
  for (std::string& name : expanded) {
    hosts.push_back({.name = std::move(name), .slots = slots});
  }
  return hosts;
}

/// Parses "name", "name:4", "node[01-08]:4", "[fd00::7]:4"; in a hostfile also "name:4:mlx5_0"
/// (MVAPICH), whose network adapter is ignored, because it does not affect the number of slots.
std::vector<ClusterHost> parse_host(std::string_view text, bool in_hostfile) {
  const auto [name, after] = split_host(text);
  if (name.empty()) {
    throw UsageError(fmt::format("'{}' names no host; hosts are written a:4,b:4", text));
  }
  if (!after) {
    return hosts_of(name, 1);
  }
  const auto colon = after->find(':');
  const bool adapter = in_hostfile && colon != std::string_view::npos &&
                       colon + 1 < after->size() &&
                       after->find(':', colon + 1) == std::string_view::npos;
  if (colon != std::string_view::npos && !adapter) {
    throw UsageError(fmt::format(
        "'{}' has more than one colon; hosts are written a:4,b:4, an IPv6 address [fd00::7]:4",
        text));
  }
  return hosts_of(name, parse_slots(name, after->substr(0, colon)));
}

/// Reads a word after a host's name in a hostfile: Open MPI's slots=4, or max-slots=8 (or
/// max_slots), which is ignored, because it does not affect the number of ranks to start.
void read_host_word(std::string_view word, std::vector<ClusterHost>& hosts) {
  const auto equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  if (key == "slots") {
    for (ClusterHost& host : hosts) {
      host.slots = parse_slots(host.name, value);
    }
  } else if ((key != "max-slots" && key != "max_slots") || value.empty()) {
    throw UsageError(
        fmt::format("'{}' is not understood; lines are NAME, NAME:4 or NAME slots=4", word));
  }
}

/// Splits a line into words; blanks around an equals sign do not separate words.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool joins = false;
  std::istringstream stream{std::string(line)};
  for (std::string word; stream >> word;) {
    if (joins || (word.starts_with('=') && words.size() > 1)) {
      words.back() += word;
    } else {
      words.push_back(word);
    }
    joins = words.size() > 1 && word.ends_with('=');
  }
  return words;
}

/// Reads a line of a hostfile that is not blank.
std::vector<ClusterHost> read_host_line(std::string_view line) {
  const std::vector<std::string> words = words_of(line);
  std::vector<ClusterHost> hosts = parse_host(words.front(), true);
  for (const std::string& word : std::span(words).subspan(1)) {
    read_host_word(word, hosts);
  }
  return hosts;
}

/// Throws UsageError if a host of a list consists of several words, as a hostfile's line may.
void check_one_word(std::string_view host) {
  if (words_of(host).size() > 1) {
    throw UsageError(fmt::format(
        "'{}' is not one host; hosts are separated by commas and written a:4,b:4", host));
  }
}

/// The hosts in the order of their first occurrence; a host that is added again adds its slots.
class HostList {
 public:
  void add(std::vector<ClusterHost> hosts) {
    for (ClusterHost& host : hosts) {
      const auto [known, is_new] = places_.try_emplace(host.name, all_.size());
      if (is_new) {
        all_.push_back(std::move(host));
      } else {
        add_slots(host.slots, all_[known->second]);
      }
    }
  }

  std::vector<ClusterHost> take() { return std::move(all_); }

 private:
  static void add_slots(int slots, ClusterHost& host) {
    if (host.slots > kMostSlots - slots) {
      throw UsageError(
          fmt::format("host '{}' has more than {} slots in all", host.name, kMostSlots));
    }
    host.slots += slots;
  }

  std::vector<ClusterHost> all_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace

std::vector<ClusterHost> parse_host_list(std::string_view text) {
  HostList hosts;
  for (const std::string_view part : split_node_list(text)) {
    check_one_word(trimmed(part));
    hosts.add(parse_host(trimmed(part), false));
  }
  return hosts.take();
}

std::vector<ClusterHost> parse_hostfile(std::string_view text, const std::string& file) {
  HostList hosts;
  int number = 0;
  for (const std::string& full : split_lines(text)) {
    ++number;
    if (full.find('\0') != std::string::npos) {
      throw UsageError(fmt::format("{}:{}: it has a NUL byte; a hostfile is text", file, number));
    }
    const std::string_view line = trimmed(std::string_view(full).substr(0, full.find('#')));
    if (line.empty()) {
      continue;
    }
    try {
      hosts.add(read_host_line(line));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", file, number, error.what()));
    }
  }
  std::vector<ClusterHost> all = hosts.take();
  if (all.empty()) {
    throw UsageError(fmt::format("{}: names no host", file));
  }
  return all;
}

}  // namespace paceline::cluster
