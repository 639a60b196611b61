// SPDX-License-Identifier: Apache-2.0
// The keys of a cluster file, and what its parts must fulfil.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "paceline/base/error.h"
#include "paceline/base/file.h"
#include "paceline/base/program_place.h"
#include "paceline/base/text.h"
#include "paceline/cluster/cluster.h"
#include "paceline/cluster/cluster_format.h"
#include "paceline/cluster/cluster_units.h"
#include "paceline/plan/alpha_beta.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {
namespace {

constexpr double kSlowestLink = 1000;  // bytes/s; a lower rate is considered a mistake

constexpr Words<LinkScope, 2> kScopes{{"hosts", "devices"},
                                      {LinkScope::kHosts, LinkScope::kDevices}};
constexpr Words<LinkSharing, 2> kSharings{{"host", "device"},
                                          {LinkSharing::kHost, LinkSharing::kDevice}};
constexpr Words<bool, 2> kDuplexes{{"full", "half"}, {true, false}};
constexpr Quantity<double> kRate{parse_rate, "B/s"}, kFlops{parse_flops, "FLOP/s"};
constexpr Quantity<std::int64_t> kTime{parse_duration_ps, "ps"}, kSize{parse_bytes, "B"};
constexpr Number<double> kNonNegative{.least = 0};
constexpr Number<int> kHostCount{.least = 1, .most = 1 << 20};
constexpr Number<std::int64_t> kBytes{.least = 0};

/// Throws UsageError if a piece of the fit is slower than the slowest allowed link, because
/// simulated times could then exceed the range of their integers.
void check_fit(const LinkFit& fit) {
  constexpr double kSlowestBeta = 1e12 / kSlowestLink;
  constexpr plan::Picoseconds kLongestStart = 60 * plan::kPicosecondsPerSecond;
  const std::string what = fmt::format("the fit of {} among {} ranks", fit.operation, fit.ranks);
  const auto& counts = fit.ranks_per_host;
  if (!counts.empty() &&
      std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) != fit.ranks) {
    throw UsageError(fmt::format("{}: ranks_per_host = [{}]: the sum must be ranks", what,
                                 fmt::join(counts, ", ")));
  }
  if (!fit.line.known()) {
    throw UsageError(fmt::format("{}: pieces = []: a fit has at least one piece", what));
  }
  plan::check_alpha_beta(fit.line, what);
  for (const plan::AlphaBetaPiece& piece : fit.line.pieces) {
    if (piece.alpha > kLongestStart || piece.beta_ps_per_byte > kSlowestBeta) {
      throw UsageError(
          fmt::format("{}: a piece of alpha {:g} s and beta_ps_per_byte {:g}; they may be at most "
                      "{:g} s and {:g}",
                      what, plan::seconds_of(piece.alpha), piece.beta_ps_per_byte,
                      plan::seconds_of(kLongestStart), kSlowestBeta));
    }
  }
}

void check_calibration(const LinkCalibration& found) {
  if (found.from_bytes < 1 || found.to_bytes < found.from_bytes) {
    throw UsageError(fmt::format(
        "from_bytes = {}, to_bytes = {}; they are sizes from 1 on, the smallest and the "
        "largest",
        found.from_bytes, found.to_bytes));
  }
  if (found.ranks.empty() || std::ranges::min(found.ranks) < 2) {
    throw UsageError(fmt::format("ranks = [{}]; it needs numbers of ranks, each at least 2",
                                 fmt::join(found.ranks, ", ")));
  }
}

/// Checks the last link; there may be one link per scope and per name.
void check_last_link(const std::vector<ClusterLink>& links) {
  const ClusterLink& link = links.back();
  if (!(link.bytes_per_s >= kSlowestLink)) {
    throw UsageError(fmt::format("link '{}' has a rate of {} bytes/s; it must be at least {}",
                                 link.name, link.bytes_per_s, kSlowestLink));
  }
  if (link.under_compute != 1 && link.scope != LinkScope::kDevices) {
    throw UsageError(fmt::format(
        "link '{}' joins hosts; under_compute is of a link that joins devices", link.name));
  }
  for (const ClusterLink& other : std::span(links).first(links.size() - 1)) {
    if (other.name == link.name) {
      throw UsageError(fmt::format("two links have the name '{}'; give each its own", link.name));
    }
    if (other.scope == link.scope) {
      throw UsageError(
          fmt::format("link '{}' joins what link '{}' joins already; one link per 'joins'",
                      link.name, other.name));
    }
  }
}

void check_throughput(const ClusterDevice& device) {
  const DeviceThroughput& row = device.throughputs.back();
  if (row.model.empty() || row.samples_per_s == 0) {
    throw UsageError(
        fmt::format("device '{}': '{}' with {} samples/s; a model and a rate above 0 are needed",
                    device.name, row.model, row.samples_per_s));
  }
}

/// A table of hosts: one host, or `count` hosts whose names are numbered.
struct HostRow {
  ClusterHost host{.name = "host"};
  std::optional<int> count{};
};

struct ClusterRows {
  Cluster cluster;
  std::vector<HostRow> hosts{};
};

constexpr auto kUnchecked = [] {};

}  // namespace

// Note [One description of a part]: the visitors find these functions by their arguments.

static void fields(auto& visit, plan::AlphaBetaPiece& piece) {
  visit("from_bytes", piece.from_bytes, kBytes);
  visit("alpha", piece.alpha, kTime);
  visit("beta_ps_per_byte", piece.beta_ps_per_byte, kNonNegative);
}

static void fields(auto& visit, LinkFit& fit) {
  visit("operation", fit.operation, OneOfText{.known = plan::kOperations, .required = true});
  visit("ranks", fit.ranks, Number<int>{.least = 2, .most = kMostRanks});
  visit("ranks_per_host", fit.ranks_per_host, Counts{});
  visit("engine", fit.engine, OneOfText{.known = kFitEngines});
  visit("device", fit.device, OneOfText{.known = kFitDevices});
  visit("error_percent", fit.error_percent, kNonNegative);
  visit.each("pieces", "[[links.fits.pieces]]", fit.line.pieces, kUnchecked);
}

static void fields(auto& visit, LinkCalibration& found) {
  visit("engine", found.engine, OneOfText{.known = kFitEngines, .required = true});
  visit("share", found.share, Number<double>{.least = 0, .most = 1, .is_above = true});
  visit("base", found.base_ps, kTime);
  visit("hop", found.hop_ps, kTime);
  visit("error_percent", found.error_percent, kNonNegative);
  visit("doubling_percent", found.doubling_percent, kNonNegative);
  visit("from_bytes", found.from_bytes, kBytes);
  visit("to_bytes", found.to_bytes, kBytes);
  visit("ranks", found.ranks, Counts{});
}

static void fields(auto& visit, ClusterLink& link) {
  visit("name", link.name, Text{});
  visit("joins", link.scope, kScopes);
  visit("sharing", link.sharing, kSharings);
  visit("duplex", link.full_duplex, kDuplexes);
  visit("rate", link.bytes_per_s, kRate);
  visit("latency", link.latency_ps, kTime);
  visit("under_compute", link.under_compute,
        Number<double>{.least = 0, .most = 1, .is_above = true, .usual = 1});
  visit("decline", link.decline, Number<double>{.least = 0, .most = 1, .usual = 0});
  if (link.name.empty()) {
    link.name = kScopes.word_of(link.scope);
  }
  visit.each("fits", "[[links.fits]]", link.fits, [&] { check_fit(link.fits.back()); });
  visit.table("calibration", link.calibration, [&] { check_calibration(*link.calibration); });
}

static void fields(auto& visit, DeviceThroughput& row) {
  visit("model", row.model, Text{});
  visit("batch_size", row.batch_size, Number<int>{.least = 1});
  visit("samples_per_s", row.samples_per_s, kNonNegative);
}

static void fields(auto& visit, ClusterDevice& device) {
  visit("name", device.name, Text{});
  visit("flops", device.flops_per_s, kFlops);
  visit("fp8_flops", device.fp8_flops_per_s, kFlops);
  visit("memory_bandwidth", device.memory_bytes_per_s, kRate);
  visit("memory", device.memory_bytes, kSize);
  visit("under_transfer", device.under_transfer,
        Number<double>{.least = 0, .most = 1, .is_above = true, .usual = 1});
  visit.each("throughput", "[[device.throughput]]", device.throughputs,
             [&] { check_throughput(device); });
}

static void fields(auto& visit, HostRow& row) {
  visit("name", row.host.name, Text{});
  visit("count", row.count, kHostCount);
  visit("slots", row.host.slots, kHostCount);
  visit("interface", row.host.interface, Text{});
  visit("memory", row.host.memory_bytes, kSize);
}

static void fields(auto& visit, ClusterRows& file) {
  visit("name", file.cluster.name, Text{});
  visit("source", file.cluster.source, Text{});
  visit.each("hosts", "[[hosts]]", file.hosts, [&] { check_host(file.hosts.back().host); });
  visit.each("links", "[[links]]", file.cluster.links,
             [&] { check_last_link(file.cluster.links); });
  visit.table("device", file.cluster.device, kUnchecked);
}

namespace {

bool same_or_empty(const std::string& fresh, const std::string& written) {
  return written.empty() || written == fresh;
}

// Whether `fresh`, from a file under `collectives`, replaces `written`: it has the same operation
// and ranks and was measured under all conditions that `written` states.
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
    check_last_link(cluster.links);
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

Cluster parse(std::string_view text, const std::string& file, FileRole role) {
  const bool whole = role == FileRole::kCluster;
  const toml::table table = parse_toml(text, file);
  const Section top(table, file, whole ? "a cluster file" : "a file of collectives",
                    keys_of<ClusterRows>() + (whole ? " collectives" : ""));
  ClusterRows rows;
  rows.cluster.name = file;
  ReadVisitor visitor{top};
  fields(visitor, rows);
  Cluster& cluster = rows.cluster;
  for (const HostRow& row : rows.hosts) {
    for (int i = 0; i < row.count.value_or(1); ++i) {
      cluster.hosts.push_back(row.host);
      cluster.hosts.back().name += row.count ? fmt::to_string(i) : "";
    }
  }
  add_collectives(top, file, cluster);
  try {
    check_hosts(cluster.hosts);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", file, error.what()));
  }
  return std::move(cluster);
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

std::string to_toml(const Cluster& cluster) {
  ClusterRows rows{.cluster = cluster};
  for (const ClusterHost& host : cluster.hosts) {
    rows.hosts.push_back({.host = host});
  }
  WriteVisitor visitor;
  fields(visitor, rows);
  std::ostringstream out;
  out << visitor.written << '\n';
  return out.str();
}

}  // namespace paceline::cluster
