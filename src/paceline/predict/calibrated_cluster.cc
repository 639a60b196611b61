// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/calibrated_cluster.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/comm_fit.h"
#include "paceline/predict/request_costs.h"
#include "paceline/stats/prior_fit.h"

namespace paceline::predict {
namespace {

using cluster::ClusterHost;
using cluster::LinkScope;
using records::CommRecord;

// Standard deviations of logarithms before anything is measured, and of a measured time about the
// model.
constexpr double kOfGivenRate = 0.35, kOfUnknownRate = 1.5;
constexpr double kOfHopLatency = 1, kOfATime = 0.1;
constexpr double kUsualHop = 2e-6;  // s

std::optional<plan::Pattern> pattern_of(const std::string& operation) {
  for (const plan::Pattern pattern : {plan::Pattern::kAllReduce, plan::Pattern::kReduceScatter,
                                      plan::Pattern::kAllGather, plan::Pattern::kBroadcast}) {
    if (plan::name_of(pattern) == operation) {
      return pattern;
    }
  }
  return std::nullopt;
}

/// A measured time of a collective.
struct Point {
  cluster::CollectiveCall call;
  double seconds = 0;
};

/// Of some rates and latencies the one that fits best: NCCL's own constants hold short hops, so
/// that a latency below them says nothing of where to go.
std::vector<double> best_start(const stats::Residuals& residuals,
                               const std::vector<double>& prior) {
  std::vector<double> best{0, 0};
  double least = INFINITY;
  for (const double rate : {0.0, -0.7, 0.7, 1.4}) {
    for (const double latency : {0.0, 0.7, 1.4, 2.1, 2.8}) {
      double sum = std::pow(rate / prior[0], 2) + std::pow(latency / prior[1], 2);
      for (const double residual : residuals({rate, latency})) {
        sum += residual * residual;
      }
      if (sum < least) {
        least = sum;
        best = {rate, latency};
      }
    }
  }
  return best;
}

class Calibration {
 public:
  Calibration(std::span<const CommRecord> records, const ClusterFacts& facts,
              const std::string& source)
      : facts_(facts) {
    keep_usable(records);
    out_.cluster = facts.base.value_or(cluster::Cluster{});
    out_.cluster.name = "calibrated by paceline calibrate";
    out_.cluster.source = source;
    choose_hosts();
    for (CommRecord& record : usable_) {
      place(record);
    }
    fit_scope(LinkScope::kDevices);
    fit_scope(LinkScope::kHosts);
    cluster::check_cluster(out_.cluster);
  }

  CalibratedCluster result() && { return std::move(out_); }

 private:
  void keep_usable(std::span<const CommRecord> records) {
    std::set<std::string> skipped;
    for (const CommRecord& record : records) {
      const bool known =
          std::ranges::find(plan::kOperations, record.operation) != plan::kOperations.end();
      if (!known) {
        skipped.insert(record.operation + ", which no plan has");
      } else if (record.found_wrong()) {
        skipped.insert(record.operation + " with wrong values");
      } else if (!record.has_bandwidth() || !record.valid.value_or(record.link.empty())) {
        skipped.insert(record.operation + " whose times are not its own");
      } else if (record.bytes > 0 && record.ranks > 1) {
        usable_.push_back(record);
      }
    }
    for (const std::string& what : skipped) {
      out_.notes.push_back(fmt::format("{} is left out", what));
    }
    if (usable_.empty()) {
      throw UsageError(
          "no time of a collective or a message is in the files: nothing can be calibrated");
    }
    for (const CommRecord& record : usable_) {
      if (engine_of_record(record) != engine_of_record(usable_.front())) {
        throw UsageError(fmt::format("the files are of engines {} and {}; calibrate each alone",
                                     usable_.front().engine, record.engine));
      }
    }
    engine_ = engine_of_record(usable_.front());
  }

  /// RCCL is NCCL for AMD's GPUs.
  static std::string engine_of_record(const CommRecord& record) {
    return record.engine == "rccl" ? "nccl" : record.engine;
  }

  void choose_hosts() {
    if (!facts_.hosts.empty()) {
      out_.cluster.hosts = facts_.hosts;
    }
    if (!out_.cluster.hosts.empty()) {
      return;
    }
    const auto most = std::ranges::max_element(usable_, {}, &CommRecord::ranks);
    std::vector<int> counts = most->ranks_per_host;
    if (counts.empty() && most->ranks <= facts_.devices_of_a_host) {
      counts = {facts_.devices_of_a_host};
    }
    if (counts.empty()) {
      throw UsageError(
          fmt::format("the files do not say on which hosts their {} ranks are; give --hosts, "
                      "--hostfile, Slurm's variables or nvidia-smi topo -m",
                      most->ranks));
    }
    for (const int count : counts) {
      out_.cluster.hosts.push_back({.name = fmt::format("host{}", out_.cluster.hosts.size()),
                                    .slots = count,
                                    .interface = {},
                                    .memory_bytes = {}});
    }
  }

  void place(CommRecord& record) const {
    if (record.ranks_per_host.empty()) {
      const auto counts = cluster::ranks_per_host(out_.cluster, record.ranks);
      record.ranks_per_host.assign(counts.begin(), counts.end());
    }
  }

  static LinkScope scope_of(const CommRecord& record) {
    return record.ranks_per_host.size() > 1 ? LinkScope::kHosts : LinkScope::kDevices;
  }

  /// The link of the scope, added where the cluster has none; its rate is the largest bus
  /// bandwidth.
  cluster::ClusterLink& link_of(LinkScope scope, bool& was_given) {
    auto& links = out_.cluster.links;
    const auto found = std::ranges::find(links, scope, &cluster::ClusterLink::scope);
    was_given = found != links.end();
    if (was_given) {
      return *found;
    }
    double rate = 0;
    for (const CommRecord& record : usable_) {
      if (scope_of(record) == scope) {
        rate = std::max(rate, record.bus_bandwidth());
      }
    }
    const bool devices = scope == LinkScope::kDevices;
    const bool own =
        devices ? !facts_.has_topology || facts_.nvlinks > 0
                : facts_.network_cards > 0 && facts_.network_cards >= facts_.devices_of_a_host;
    links.push_back({.name = !devices              ? "network"
                             : facts_.nvlinks > 0  ? "nvlink"
                             : facts_.has_topology ? "pcie"
                                                   : "devices",
                     .scope = scope,
                     .sharing = own ? cluster::LinkSharing::kDevice : cluster::LinkSharing::kHost,
                     .bytes_per_s = rate,
                     .latency_ps = plan::picoseconds_of(kUsualHop),
                     .fits = {}});
    return links.back();
  }

  std::vector<Point> points_of(LinkScope scope) const {
    std::vector<Point> points;
    for (const CommRecord& record : usable_) {
      const auto pattern = pattern_of(record.operation);
      if (pattern && scope_of(record) == scope) {
        const auto& counts = record.ranks_per_host;
        points.push_back({.call = {.pattern = *pattern,
                                   .bytes = record.bytes,
                                   .group = {.ranks = record.ranks,
                                             .hosts = static_cast<plan::Rank>(counts.size()),
                                             .most_local = std::ranges::max(counts)}},
                          .seconds = record.median_ns() * 1e-9});
      }
    }
    return points;
  }

  void fit_scope(LinkScope scope) {
    const std::vector<Point> points = points_of(scope);
    const bool any =
        std::ranges::any_of(usable_, [&](const CommRecord& it) { return scope_of(it) == scope; });
    if (!any) {
      return;
    }
    bool given = false;
    cluster::ClusterLink& link = link_of(scope, given);
    link.fits.clear();
    if (!points.empty()) {
      fit_link(points, given, link);
    }
    put_fits(scope, link);
  }

  void fit_link(const std::vector<Point>& points, bool given, cluster::ClusterLink& link) {
    const EngineCosts& engine = engine_costs_named(engine_);
    const double rate = link.bytes_per_s;
    const double hop = std::max(1e-7, plan::seconds_of(link.latency_ps));
    const auto put = [&](const std::vector<double>& at) {
      link.bytes_per_s = rate * std::exp(at[0]);
      link.latency_ps = plan::picoseconds_of(std::min(1.0, hop * std::exp(at[1])));
    };
    const auto errors = [&](const std::vector<double>& at) {
      put(at);
      const cluster::Machine machine = machine_for(out_.cluster, engine);
      std::vector<double> out;
      for (const Point& point : points) {
        out.push_back(std::log(collective_s(point.call, machine, engine.costs) / point.seconds));
      }
      return out;
    };
    const auto residuals = [&](const std::vector<double>& at) {
      std::vector<double> out = errors(at);
      for (double& error : out) {
        error /= kOfATime;
      }
      return out;
    };
    const std::vector<double> prior{given ? kOfGivenRate : kOfUnknownRate, kOfHopLatency};
    const stats::PriorFit fit =
        stats::fit_with_priors(residuals, prior, best_start(residuals, prior));
    CalibratedLink explained{.name = link.name, .points = points.size()};
    for (const double error : errors(fit.at)) {
      const double share = std::abs(std::expm1(error));
      explained.mean_error += share / static_cast<double>(points.size());
      explained.worst_error = std::max(explained.worst_error, share);
    }
    explained.bytes_per_s = link.bytes_per_s;
    explained.latency_s = plan::seconds_of(link.latency_ps);
    const auto interval = [&](double value, std::size_t k) {
      const double reach = 1.96 * std::sqrt(fit.covariance[k][k]);
      return stats::Interval{value * std::exp(-reach), value * std::exp(reach)};
    };
    explained.bytes_per_s_interval = interval(explained.bytes_per_s, 0);
    explained.latency_interval = interval(explained.latency_s, 1);
    out_.links.push_back(std::move(explained));
  }

  void put_fits(LinkScope scope, cluster::ClusterLink& link) {
    std::map<std::tuple<int, std::vector<int>>, std::vector<CommRecord>> worlds;
    for (const CommRecord& record : usable_) {
      if (scope_of(record) == scope) {
        worlds[{record.ranks, record.ranks_per_host}].push_back(record);
      }
    }
    for (const auto& [world, records] : worlds) {
      for (cluster::LinkFit& fit : fits_of(records)) {
        fit.engine = engine_;
        link.fits.push_back(std::move(fit));
      }
    }
  }

  ClusterFacts facts_;
  std::string engine_;
  std::vector<CommRecord> usable_;
  CalibratedCluster out_;
};

}  // namespace

double collective_s(const cluster::CollectiveCall& call, const cluster::Machine& machine,
                    const cluster::SoftwareCosts& software) {
  const plan::Picoseconds start =
      cluster::measured_fit(call, machine) != nullptr
          ? 0
          : software.issue + software.collective + call.group.ranks * software.collective_per_rank;
  return plan::seconds_of(start +
                          cluster::alone(cluster::price(call, machine), call.group, machine));
}

CalibratedCluster calibrated_cluster(std::span<const CommRecord> records, const ClusterFacts& facts,
                                     const std::string& source) {
  return Calibration(records, facts, source).result();
}

}  // namespace paceline::predict
