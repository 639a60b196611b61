// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/text.h"
#include "paceline/plan/cluster.h"
#include "paceline/plan/cluster_units.h"

namespace paceline::plan {
namespace {

template <class Value>
struct Word {
  std::string_view name;
  Value value;
};

constexpr std::array<Word<LinkScope>, 2> kScopes{
    {{"hosts", LinkScope::kHosts}, {"devices", LinkScope::kDevices}}};
constexpr std::array<Word<LinkSharing>, 3> kSharings{
    {{"host", LinkSharing::kHost},
     {"device", LinkSharing::kDevice},
     {"all", LinkSharing::kAll}}};
constexpr std::array<Word<bool>, 2> kDuplexes{
    {{"full", true}, {"half", false}}};

template <class Value, std::size_t kCount>
std::string_view word_of(const std::array<Word<Value>, kCount>& words,
                         Value value) {
  for (const auto& word : words) {
    if (word.value == value) {
      return word.name;
    }
  }
  return "";
}

/// One table of the file, whose keys are all known.
class Section {
 public:
  Section(const toml::table& table,
          std::string file,
          std::string title,
          std::vector<std::string> keys)
      : table_(table), file_(std::move(file)), title_(std::move(title)) {
    for (const auto& [key, node] : table_) {
      if (std::ranges::find(keys, key.str()) == keys.end()) {
        throw UsageError(fmt::format(
            "{}: {}",
            at(node),
            unknown_name(fmt::format("key of {}", title_), key.str(), keys)));
      }
    }
  }

  bool has(std::string_view key) const { return table_.contains(key); }

  std::string text(std::string_view key, std::string fallback = "") const {
    return value<std::string>(key, "text").value_or(std::move(fallback));
  }

  std::optional<std::string> written(std::string_view key) const {
    return value<std::string>(key, "text");
  }

  std::int64_t integer(std::string_view key, std::int64_t fallback) const {
    return value<std::int64_t>(key, "a whole number").value_or(fallback);
  }

  std::optional<double> number(std::string_view key) const {
    return value<double>(key, "a number");
  }

  template <class Value, std::size_t kCount>
  Value word(std::string_view key,
             const std::array<Word<Value>, kCount>& words) const {
    const std::string given = text(key, std::string(words.front().name));
    std::string known;
    for (const auto& word : words) {
      if (word.name == given) {
        return word.value;
      }
      known += fmt::format("{}{}", known.empty() ? "" : ", ", word.name);
    }
    throw UsageError(
        fmt::format("{} = '{}': known are {}", where(key), given, known));
  }

  /// "cluster.toml:12: [[links]] rate"
  std::string where(std::string_view key) const {
    const toml::node* node = table_.get(key);
    return fmt::format(
        "{}: {} {}", node == nullptr ? at(table_) : at(*node), title_, key);
  }

  /// Calls `read` with each table of the array under `key`.
  template <class Read>
  void each(std::string_view key,
            const std::string& title,
            const std::vector<std::string>& keys,
            Read read) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      return;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr || !array->is_homogeneous<toml::table>()) {
      throw UsageError(fmt::format(
          "{}: {}: write each as a table of its own", at(*node), title));
    }
    for (const toml::node& element : *array) {
      read(Section(*element.as_table(), file_, title, keys));
    }
  }

  /// Calls `read` with the table under `key`.
  template <class Read>
  void table(std::string_view key,
             const std::vector<std::string>& keys,
             Read read) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      return;
    }
    const std::string title = fmt::format("[{}]", key);
    if (!node->is_table()) {
      throw UsageError(fmt::format("{}: write it as {}", at(*node), title));
    }
    read(Section(*node->as_table(), file_, title, keys));
  }

 private:
  std::string at(const toml::node& node) const {
    return fmt::format("{}:{}", file_, node.source().begin.line);
  }

  template <class Value>
  std::optional<Value> value(std::string_view key,
                             std::string_view expected) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      return std::nullopt;
    }
    if (const auto found = node->value_exact<Value>()) {
      return *found;
    }
    if constexpr (std::is_same_v<Value, double>) {
      if (const auto whole = node->value_exact<std::int64_t>()) {
        return static_cast<double>(*whole);
      }
    }
    std::ostringstream shown;
    node->visit([&](const auto& it) { shown << it; });
    throw UsageError(
        fmt::format("{} = {}: must be {}", where(key), shown.str(), expected));
  }

  const toml::table& table_;
  std::string file_, title_;
};

void read_hosts(const Section& section, Cluster& cluster) {
  const std::int64_t count = section.integer("count", 1);
  const std::int64_t slots = section.integer("slots", 1);
  if (count < 1 || count > 1 << 20) {
    throw UsageError(fmt::format(
        "{} = {}: must be 1 to {}", section.where("count"), count, 1 << 20));
  }
  if (slots < 1 || slots > 1 << 20) {
    throw UsageError(fmt::format(
        "{} = {}: must be 1 to {}", section.where("slots"), slots, 1 << 20));
  }
  const std::string name = section.text("name", "host");
  for (std::int64_t i = 0; i < count; ++i) {
    cluster.hosts.push_back(
        {.name = section.has("count") ? fmt::format("{}{}", name, i) : name,
         .slots = static_cast<int>(slots),
         .interface = section.text("interface")});
  }
}

LinkFit read_fit(const Section& section) {
  LinkFit fit;
  fit.operation = section.text("operation");
  fit.engine = section.text("engine");
  fit.device = section.text("device");
  const std::int64_t ranks = section.integer("ranks", 2);
  if (ranks < 2 || ranks > 1 << 24) {
    throw UsageError(fmt::format(
        "{} = {}: must be 2 to {}", section.where("ranks"), ranks, 1 << 24));
  }
  fit.ranks = static_cast<int>(ranks);
  fit.error_percent = section.number("error_percent");
  section.each(
      "pieces",
      "[[links.fits.pieces]]",
      {"from_bytes", "alpha", "beta_ps_per_byte"},
      [&](const Section& piece) {
        fit.line.pieces.push_back(
            {.from_bytes = piece.integer("from_bytes", 0),
             .alpha = parse_duration_ps(piece.where("alpha"),
                                        piece.text("alpha", "0s")),
             .beta_ps_per_byte = piece.number("beta_ps_per_byte").value_or(0)});
      });
  return fit;
}

ClusterLink read_link(const Section& section) {
  ClusterLink link;
  link.name = section.text("name");
  link.scope = section.word("joins", kScopes);
  link.sharing = section.word("sharing", kSharings);
  link.full_duplex = section.word("duplex", kDuplexes);
  link.bytes_per_s = parse_rate(section.where("rate"), section.text("rate"));
  link.latency_ps = parse_duration_ps(section.where("latency"),
                                      section.text("latency", "0s"));
  link.under_compute = section.number("under_compute").value_or(1);
  link.decline = section.number("decline").value_or(0);
  if (link.name.empty()) {
    link.name = word_of(kScopes, link.scope);
  }
  section.each(
      "fits",
      "[[links.fits]]",
      {"operation", "ranks", "engine", "device", "error_percent", "pieces"},
      [&](const Section& fit) { link.fits.push_back(read_fit(fit)); });
  return link;
}

ClusterDevice read_device(const Section& section) {
  ClusterDevice device;
  device.name = section.text("name");
  if (const auto text = section.written("flops")) {
    device.flops_per_s = parse_flops(section.where("flops"), *text);
  }
  if (const auto text = section.written("memory_bandwidth")) {
    device.memory_bytes_per_s =
        parse_rate(section.where("memory_bandwidth"), *text);
  }
  if (const auto text = section.written("memory")) {
    device.memory_bytes = parse_bytes(section.where("memory"), *text);
  }
  device.under_transfer = section.number("under_transfer").value_or(1);
  section.each(
      "throughput",
      "[[device.throughput]]",
      {"model", "batch_size", "samples_per_s"},
      [&](const Section& row) {
        device.throughputs.push_back(
            {.model = row.text("model"),
             .batch_size = static_cast<int>(row.integer("batch_size", 1)),
             .samples_per_s = row.number("samples_per_s").value_or(0)});
      });
  return device;
}

Cluster read(const toml::table& table, const std::string& file) {
  const Section top(table,
                    file,
                    "a cluster file",
                    {"name", "source", "hosts", "links", "device"});
  Cluster cluster;
  cluster.name = top.text("name", file);
  cluster.source = top.text("source");
  top.each("hosts",
           "[[hosts]]",
           {"name", "count", "slots", "interface"},
           [&](const Section& section) { read_hosts(section, cluster); });
  top.each("links",
           "[[links]]",
           {"name",
            "joins",
            "sharing",
            "duplex",
            "rate",
            "latency",
            "under_compute",
            "decline",
            "fits"},
           [&](const Section& section) {
             cluster.links.push_back(read_link(section));
           });
  top.table(
      "device",
      {"name",
       "flops",
       "memory_bandwidth",
       "memory",
       "under_transfer",
       "throughput"},
      [&](const Section& section) { cluster.device = read_device(section); });
  return cluster;
}

toml::table table_of(const ClusterLink& link) {
  toml::table table{{"name", link.name},
                    {"joins", word_of(kScopes, link.scope)},
                    {"sharing", word_of(kSharings, link.sharing)},
                    {"duplex", word_of(kDuplexes, link.full_duplex)},
                    {"rate", fmt::format("{}B/s", link.bytes_per_s)},
                    {"latency", fmt::format("{}ps", link.latency_ps)}};
  if (link.under_compute != 1) {
    table.insert("under_compute", link.under_compute);
  }
  if (link.decline != 0) {
    table.insert("decline", link.decline);
  }
  toml::array fits;
  for (const LinkFit& fit : link.fits) {
    toml::array pieces;
    for (const AlphaBetaPiece& piece : fit.line.pieces) {
      pieces.push_back(
          toml::table{{"from_bytes", piece.from_bytes},
                      {"alpha", fmt::format("{}ps", piece.alpha)},
                      {"beta_ps_per_byte", piece.beta_ps_per_byte}});
    }
    toml::table row{{"operation", fit.operation},
                    {"ranks", fit.ranks},
                    {"pieces", std::move(pieces)}};
    if (fit.error_percent) {
      row.insert("error_percent", *fit.error_percent);
    }
    for (const auto& [key, text] :
         {std::pair{"engine", fit.engine}, {"device", fit.device}}) {
      if (!text.empty()) {
        row.insert(key, text);
      }
    }
    fits.push_back(std::move(row));
  }
  if (!fits.empty()) {
    table.insert("fits", std::move(fits));
  }
  return table;
}

toml::table table_of(const ClusterDevice& device) {
  toml::table table;
  if (!device.name.empty()) {
    table.insert("name", device.name);
  }
  if (device.flops_per_s) {
    table.insert("flops", fmt::format("{}FLOP/s", *device.flops_per_s));
  }
  if (device.memory_bytes_per_s) {
    table.insert("memory_bandwidth",
                 fmt::format("{}B/s", *device.memory_bytes_per_s));
  }
  if (device.memory_bytes) {
    table.insert("memory", fmt::format("{}B", *device.memory_bytes));
  }
  if (device.under_transfer != 1) {
    table.insert("under_transfer", device.under_transfer);
  }
  toml::array rows;
  for (const DeviceThroughput& row : device.throughputs) {
    rows.push_back(toml::table{{"model", row.model},
                               {"batch_size", row.batch_size},
                               {"samples_per_s", row.samples_per_s}});
  }
  if (!rows.empty()) {
    table.insert("throughput", std::move(rows));
  }
  return table;
}

}  // namespace

Cluster parse_cluster(std::string_view text, const std::string& file) {
  Cluster cluster;
  try {
    cluster = read(toml::parse(text, file), file);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: not TOML: {}",
                                 file,
                                 error.source().begin.line,
                                 error.description()));
  }
  try {
    check_cluster(cluster);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", file, error.what()));
  }
  return cluster;
}

Cluster read_cluster(const std::string& path) {
  return parse_cluster(read_text(path), path);
}

std::string to_toml(const Cluster& cluster) {
  toml::table table{{"name", cluster.name}};
  if (!cluster.source.empty()) {
    table.insert("source", cluster.source);
  }
  toml::array hosts;
  for (const ClusterHost& host : cluster.hosts) {
    toml::table row{{"name", host.name}, {"slots", host.slots}};
    if (!host.interface.empty()) {
      row.insert("interface", host.interface);
    }
    hosts.push_back(std::move(row));
  }
  table.insert("hosts", std::move(hosts));
  toml::array links;
  for (const ClusterLink& link : cluster.links) {
    links.push_back(table_of(link));
  }
  if (!links.empty()) {
    table.insert("links", std::move(links));
  }
  if (toml::table device = table_of(cluster.device); !device.empty()) {
    table.insert("device", std::move(device));
  }
  std::ostringstream out;
  out << table << '\n';
  return out.str();
}

}  // namespace paceline::plan
