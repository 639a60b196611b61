// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/program_place.h"
#include "paceline/base/text.h"
#include "paceline/cluster/cluster.h"
#include "paceline/cluster/cluster_units.h"
#include "paceline/cluster/cluster_words.h"
#include "paceline/cluster/toml_section.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {
namespace {

void read_hosts(const Section& section, Cluster& cluster) {
  const int count = section.integer("count", 1, 1, 1 << 20);
  const int slots = section.integer("slots", 1, 1, 1 << 20);
  const std::string name = section.text("name", "host");
  if (name.empty() || name.starts_with('-')) {
    section.reject("name", "'" + name + "'", "a name is not empty and does not begin with '-'");
  }
  std::optional<std::int64_t> memory;
  if (const auto text = section.written("memory")) {
    memory = parse_bytes(section.where("memory"), *text);
  }
  for (int i = 0; i < count; ++i) {
    cluster.hosts.push_back({.name = section.has("count") ? fmt::format("{}{}", name, i) : name,
                             .slots = slots,
                             .interface = section.text("interface"),
                             .memory_bytes = memory});
  }
}

LinkFit read_fit(const Section& section) {
  LinkFit fit;
  fit.operation = section.one_of("operation", plan::kOperations).value_or("");
  if (fit.operation.empty()) {
    section.reject("operation", "''", "a fit says its operation");
  }
  fit.engine = section.one_of("engine", kFitEngines).value_or("");
  fit.device = section.one_of("device", kFitDevices).value_or("");
  fit.ranks = section.integer("ranks", 2, 2, kMostRanks);
  fit.ranks_per_host = section.counts("ranks_per_host");
  if (!fit.ranks_per_host.empty() &&
      std::accumulate(fit.ranks_per_host.begin(), fit.ranks_per_host.end(), std::int64_t{0}) !=
          fit.ranks) {
    section.reject("ranks_per_host", fmt::format("[{}]", fmt::join(fit.ranks_per_host, ", ")),
                   fmt::format("the sum must be ranks, {}", fit.ranks));
  }
  fit.error_percent = section.non_negative("error_percent");
  section.each("pieces", "[[links.fits.pieces]]", "from_bytes alpha beta_ps_per_byte",
               [&](const Section& piece) {
                 fit.line.pieces.push_back(
                     {.from_bytes = piece.integer("from_bytes", 0),
                      .alpha = parse_duration_ps(piece.where("alpha"), piece.text("alpha", "0s")),
                      .beta_ps_per_byte = piece.non_negative("beta_ps_per_byte").value_or(0)});
               });
  if (!fit.line.known()) {
    section.reject("pieces", "[]", "a fit has at least one piece");
  }
  return fit;
}

LinkCalibration read_calibration(const Section& section) {
  const auto duration = [&](std::string_view key) -> std::optional<std::int64_t> {
    const auto text = section.written(key);
    return text ? std::optional(parse_duration_ps(section.where(key), *text)) : std::nullopt;
  };
  LinkCalibration found;
  found.engine = section.one_of("engine", kFitEngines).value_or("");
  found.share = section.non_negative("share");
  found.base_ps = duration("base");
  found.hop_ps = duration("hop");
  found.error_percent = section.non_negative("error_percent");
  found.doubling_percent = section.non_negative("doubling_percent");
  found.from_bytes = section.integer("from_bytes", 0);
  found.to_bytes = section.integer("to_bytes", 0);
  found.ranks = section.counts("ranks");
  return found;
}

ClusterLink read_link(const Section& section) {
  ClusterLink link;
  link.name = section.text("name");
  link.scope = section.word("joins", kScopes);
  link.sharing = section.word("sharing", kSharings);
  link.full_duplex = section.word("duplex", kDuplexes);
  link.bytes_per_s = parse_rate(section.where("rate"), section.text("rate"));
  link.latency_ps = parse_duration_ps(section.where("latency"), section.text("latency", "0s"));
  link.under_compute = section.number("under_compute").value_or(1);
  link.decline = section.number("decline").value_or(0);
  if (link.name.empty()) {
    link.name = word_of(kScopes, link.scope);
  }
  section.each("fits", "[[links.fits]]",
               "operation ranks ranks_per_host engine device error_percent pieces",
               [&](const Section& fit) { link.fits.push_back(read_fit(fit)); });
  section.table("calibration",
                "engine share base hop error_percent doubling_percent from_bytes to_bytes ranks",
                [&](const Section& found) { link.calibration = read_calibration(found); });
  return link;
}

ClusterDevice read_device(const Section& section) {
  ClusterDevice device;
  device.name = section.text("name");
  if (const auto text = section.written("flops")) {
    device.flops_per_s = parse_flops(section.where("flops"), *text);
  }
  if (const auto text = section.written("fp8_flops")) {
    device.fp8_flops_per_s = parse_flops(section.where("fp8_flops"), *text);
  }
  if (const auto text = section.written("memory_bandwidth")) {
    device.memory_bytes_per_s = parse_rate(section.where("memory_bandwidth"), *text);
  }
  if (const auto text = section.written("memory")) {
    device.memory_bytes = parse_bytes(section.where("memory"), *text);
  }
  device.under_transfer = section.number("under_transfer").value_or(1);
  section.each(
      "throughput", "[[device.throughput]]", "model batch_size samples_per_s",
      [&](const Section& row) {
        device.throughputs.push_back({.model = row.text("model"),
                                      .batch_size = static_cast<int>(row.integer("batch_size", 1)),
                                      .samples_per_s = row.number("samples_per_s").value_or(0)});
      });
  return device;
}

// Adds a link; there may be one link per scope and per name.
void add_link(const Section& section, Cluster& cluster) {
  ClusterLink link = read_link(section);
  for (const ClusterLink& other : cluster.links) {
    if (other.name == link.name) {
      section.reject("name", "'" + link.name + "'", "a link before it has this name");
    }
    if (other.scope == link.scope) {
      section.reject("joins", fmt::format("'{}'", word_of(kScopes, link.scope)),
                     fmt::format("so does link '{}'; one link each", other.name));
    }
  }
  cluster.links.push_back(std::move(link));
}

bool same_or_empty(const std::string& fresh, const std::string& written) {
  return written.empty() || written == fresh;
}

// Whether `fresh` was measured under all conditions that `written` states.
bool replaces(const LinkFit& fresh, const LinkFit& written) {
  return fresh.operation == written.operation && fresh.ranks == written.ranks &&
         same_or_empty(fresh.engine, written.engine) &&
         same_or_empty(fresh.device, written.device) &&
         (written.ranks_per_host.empty() || written.ranks_per_host == fresh.ranks_per_host);
}

// Adds the fits to the cluster's link of the same scope; they replace those of replaces().  If the
// scope has no link, the measured link is added.
void add_measured_link(const ClusterLink& measured, Cluster& cluster) {
  const auto link = std::ranges::find(cluster.links, measured.scope, &ClusterLink::scope);
  if (link == cluster.links.end()) {
    cluster.links.push_back(measured);
    return;
  }
  for (const LinkFit& fresh : measured.fits) {
    std::erase_if(link->fits, [&](const LinkFit& written) { return replaces(fresh, written); });
    link->fits.push_back(fresh);
  }
}

enum class FileRole : std::uint8_t {
  kCluster,     // the file that --cluster names
  kCollectives  // a file that a cluster file names under `collectives`
};

Cluster parse(std::string_view text, const std::string& file, FileRole role);

// Adds the links of the files under `collectives`, whose paths are relative to the folder of
// `file`.
void add_collectives(const Section& top, const std::string& file, Cluster& cluster) {
  for (const std::string& name : top.texts("collectives")) {
    const std::string path = (std::filesystem::path(file).parent_path() / name).string();
    try {
      const Cluster measured = parse(read_text(path), path, FileRole::kCollectives);
      for (const ClusterLink& link : measured.links) {
        add_measured_link(link, cluster);
      }
    } catch (const UsageError& error) {
      top.reject("collectives", "'" + name + "'", error.what());
    }
  }
}

Cluster read(const toml::table& table, const std::string& file, FileRole role) {
  const bool whole = role == FileRole::kCluster;
  const Section top(
      table, file, whole ? "a cluster file" : "a file of collectives",
      whole ? "name source hosts links device collectives" : "name source hosts links device");
  Cluster cluster;
  cluster.name = top.text("name", file);
  cluster.source = top.text("source");
  top.each("hosts", "[[hosts]]", "name count slots interface memory",
           [&](const Section& section) { read_hosts(section, cluster); });
  top.each("links", "[[links]]",
           "name joins sharing duplex rate latency under_compute decline fits calibration",
           [&](const Section& section) { add_link(section, cluster); });
  add_collectives(top, file, cluster);
  top.table("device", "name flops fp8_flops memory_bandwidth memory under_transfer throughput",
            [&](const Section& section) { cluster.device = read_device(section); });
  return cluster;
}

Cluster parse(std::string_view text, const std::string& file, FileRole role) {
  Cluster cluster = read(parse_toml(text, file), file, role);
  try {
    check_cluster(cluster);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", file, error.what()));
  }
  return cluster;
}

}  // namespace

Cluster parse_cluster(std::string_view text, const std::string& file) {
  return parse(text, file, FileRole::kCluster);
}

Cluster read_cluster(const std::string& name) {
  std::error_code none;
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".toml") ||
                       std::filesystem::exists(name, none);
  const std::vector<std::string> roots = root_folders_with("clusters");
  const std::string path = is_path ? name : find_toml_file(roots, "clusters", name);
  if (path.empty()) {
    throw UsageError(unknown_name_message("cluster", name, toml_names_in(roots, "clusters")));
  }
  return parse_cluster(read_text(path), path);
}

}  // namespace paceline::cluster
