// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/cluster.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "paceline/base/error.h"
#include "paceline/plan/ranks_per_host.h"
#include "paceline/plan/wire_bytes.h"

namespace paceline::cluster {
namespace {

constexpr double kSlowestLink = 1000;  // bytes/s; a lower rate is considered a mistake

bool finite_and(double value, bool condition) { return std::isfinite(value) && condition; }

void check_hosts(const Cluster& cluster) {
  if (cluster.hosts.empty()) {
    throw UsageError("a cluster needs at least one of [[hosts]]");
  }
  std::set<std::string_view> names;
  std::int64_t slots = 0;
  for (const ClusterHost& host : cluster.hosts) {
    if (host.name.empty() || !names.insert(host.name).second) {
      throw UsageError(
          fmt::format("[[hosts]] name = '{}': names are unique and not empty", host.name));
    }
    if (host.name.starts_with('-')) {
      throw UsageError(fmt::format(
          "host '{}': a name that begins with '-' would be an option of ssh", host.name));
    }
    if (host.slots < 1) {
      throw UsageError(
          fmt::format("host '{}' has slots = {}; it needs at least 1", host.name, host.slots));
    }
    slots += host.slots;
  }
  if (slots > kMostSlots) {
    throw UsageError(
        fmt::format("the cluster has {} slots; at most {} are supported", slots, kMostSlots));
  }
}

void check_word(const std::string& where, std::string_view key, std::string_view value,
                std::span<const std::string_view> known) {
  if (std::ranges::find(known, value) == known.end()) {
    throw UsageError(
        fmt::format("{}: {} = '{}'; known are {}", where, key, value, fmt::join(known, ", ")));
  }
}

void check_placement(const LinkFit& fit, const std::string& where) {
  const auto& counts = fit.ranks_per_host;
  if (counts.empty()) {
    return;
  }
  const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (total != fit.ranks || std::ranges::any_of(counts, [](int n) { return n < 1; })) {
    throw UsageError(
        fmt::format("{}: ranks_per_host = [{}]; its numbers are above 0, their sum is the ranks'",
                    where, fmt::join(counts, ", ")));
  }
}

/// Throws UsageError if a piece of the alpha-beta fit is slower than the slowest allowed link,
/// because simulated times could then exceed the range of their integers.
void check_fit_speed(const plan::AlphaBetaTime& line, const std::string& where) {
  constexpr double kSlowestBeta = 1e12 / kSlowestLink;
  constexpr plan::Picoseconds kLongestStart = 60 * plan::kPicosecondsPerSecond;
  for (const plan::AlphaBetaPiece& piece : line.pieces) {
    if (piece.alpha > kLongestStart || piece.beta_ps_per_byte > kSlowestBeta) {
      throw UsageError(
          fmt::format("{}: a piece of alpha {:g} s and beta_ps_per_byte {:g}; they may be at most "
                      "{:g} s and {:g}",
                      where, plan::seconds_of(piece.alpha), piece.beta_ps_per_byte,
                      plan::seconds_of(kLongestStart), kSlowestBeta));
    }
  }
}

void check_fit(const ClusterLink& link, const LinkFit& fit) {
  const std::string where =
      fmt::format("link '{}', {} among {}", link.name, fit.operation, fit.ranks);
  check_word(where, "operation", fit.operation, plan::kOperations);
  if (fit.ranks < 2) {
    throw UsageError(fmt::format("{} ranks: a fit needs at least 2", where));
  }
  if (!fit.engine.empty()) {
    check_word(where, "engine", fit.engine, kFitEngines);
  }
  if (!fit.device.empty()) {
    check_word(where, "device", fit.device, kFitDevices);
  }
  if (fit.error_percent && !finite_and(*fit.error_percent, *fit.error_percent >= 0)) {
    throw UsageError(
        fmt::format("{}: error_percent = {}; it must be 0 or more", where, *fit.error_percent));
  }
  if (!fit.line.known()) {
    throw UsageError(fmt::format("{}: pieces is empty; it needs one", where));
  }
  check_placement(fit, where);
  plan::check_alpha_beta(fit.line, where);
  check_fit_speed(fit.line, where);
}

bool is_fraction(double value) { return value > 0 && value <= 1; }

void check_calibration(const ClusterLink& link) {
  if (!link.calibration) {
    return;
  }
  const LinkCalibration& found = *link.calibration;
  const std::string where = fmt::format("link '{}', calibration", link.name);
  check_word(where, "engine", found.engine, kFitEngines);
  if (found.share && !is_fraction(*found.share)) {
    throw UsageError(
        fmt::format("{}: share = {}; what is reached of the rate is above 0 and at most 1", where,
                    *found.share));
  }
  for (const auto& [key, time] : {std::pair{"base", found.base_ps}, {"hop", found.hop_ps}}) {
    if (time && *time < 0) {
      throw UsageError(fmt::format("{}: {} = {} ps; it must not be negative", where, key, *time));
    }
  }
  if (found.from_bytes < 1 || found.to_bytes < found.from_bytes) {
    throw UsageError(
        fmt::format("{}: from_bytes = {}, to_bytes = {}; they are sizes from 1 on, the "
                    "smallest and the largest",
                    where, found.from_bytes, found.to_bytes));
  }
  if (found.ranks.empty() || std::ranges::min(found.ranks) < 2) {
    throw UsageError(fmt::format("{}: ranks = [{}]; it needs numbers of ranks, each at least 2",
                                 where, fmt::join(found.ranks, ", ")));
  }
}

void check_slowing(const ClusterLink& link) {
  if (!is_fraction(link.under_compute)) {
    throw UsageError(fmt::format("link '{}': under_compute = {}; it must be above 0 and at most 1",
                                 link.name, link.under_compute));
  }
  if (link.under_compute != 1 && link.scope != LinkScope::kDevices) {
    throw UsageError(fmt::format(
        "link '{}' joins hosts; under_compute is of a link that joins devices", link.name));
  }
  if (!(link.decline >= 0 && link.decline <= 1)) {
    throw UsageError(
        fmt::format("link '{}': decline = {}; it must be 0 to 1", link.name, link.decline));
  }
}

void check_links(const Cluster& cluster) {
  std::set<std::string_view> names;
  for (const ClusterLink& link : cluster.links) {
    if (!names.insert(link.name).second) {
      throw UsageError(fmt::format("two links have the name '{}'; give each its own", link.name));
    }
    if (!finite_and(link.bytes_per_s, link.bytes_per_s >= kSlowestLink)) {
      throw UsageError(fmt::format("link '{}' has a rate of {} bytes/s; it must be at least {}",
                                   link.name, link.bytes_per_s, kSlowestLink));
    }
    if (link.latency_ps < 0) {
      throw UsageError(fmt::format("link '{}' has a latency of {} ps; it must not be negative",
                                   link.name, link.latency_ps));
    }
    check_slowing(link);
    check_calibration(link);
    if (cluster.link(link.scope) != &link) {
      throw UsageError(
          fmt::format("link '{}' joins what link '{}' joins already; one link per 'joins'",
                      link.name, cluster.link(link.scope)->name));
    }
    if (link.scope == LinkScope::kDevices && link.sharing == LinkSharing::kAll) {
      throw UsageError(fmt::format(
          "link '{}' joins the devices of a host; it cannot be shared by all", link.name));
    }
    for (const LinkFit& fit : link.fits) {
      check_fit(link, fit);
    }
  }
}

void check_device(const ClusterDevice& device) {
  for (const auto& figure :
       {device.flops_per_s, device.fp8_flops_per_s, device.memory_bytes_per_s}) {
    if (figure && !finite_and(*figure, *figure > 0)) {
      throw UsageError(
          fmt::format("device '{}' has a rate of {}; it must be above 0", device.name, *figure));
    }
  }
  if (!is_fraction(device.under_transfer)) {
    throw UsageError(
        fmt::format("device '{}': under_transfer = {}; it must be above 0 and at most 1",
                    device.name, device.under_transfer));
  }
  for (const DeviceThroughput& measured : device.throughputs) {
    if (measured.model.empty() || measured.batch_size < 1 ||
        !finite_and(measured.samples_per_s, measured.samples_per_s > 0)) {
      throw UsageError(
          fmt::format("device '{}': '{}' at batch_size = {} with {} samples/s; a model, a batch of "
                      "at least 1 and a rate above 0 are needed",
                      device.name, measured.model, measured.batch_size, measured.samples_per_s));
    }
  }
}

}  // namespace

int Cluster::slots() const {
  const std::vector<int> each = slots_by_host();
  return std::accumulate(each.begin(), each.end(), 0);
}

std::vector<int> Cluster::slots_by_host() const {
  std::vector<int> slots;
  for (const ClusterHost& host : hosts) {
    slots.push_back(host.slots);
  }
  return slots;
}

const ClusterLink* Cluster::link(LinkScope scope) const {
  const auto found = std::ranges::find(links, scope, &ClusterLink::scope);
  return found == links.end() ? nullptr : &*found;
}

std::vector<plan::Rank> ranks_per_host(const Cluster& cluster, plan::Rank world) {
  if (world < 1) {
    throw UsageError(fmt::format("a world of {} ranks; it needs at least 1", world));
  }
  std::vector<plan::Rank> ranks = plan::fill_hosts(world, cluster.slots_by_host());
  if (std::accumulate(ranks.begin(), ranks.end(), plan::Rank{0}) < world) {
    throw UsageError(
        fmt::format("a world of {} ranks does not fit on cluster '{}': {} hosts have {} slots",
                    world, cluster.name, cluster.hosts.size(), cluster.slots()));
  }
  return ranks;
}

void check_cluster(const Cluster& cluster) {
  check_hosts(cluster);
  check_links(cluster);
  check_device(cluster.device);
}

}  // namespace paceline::cluster
