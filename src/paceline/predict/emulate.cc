// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/emulate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/engine_choice.h"
#include "paceline/predict/engines.h"

namespace paceline::predict {
namespace {

/// An emulated link carries as much each way as the other.
std::int64_t each_way(const cluster::LinkModel& link) {
  return std::max<std::int64_t>(1, link.bytes_per_s * link.links() / 2);
}

cluster::LinkSpec link_of(const PredictRequest& job) {
  const cluster::Machine machine =
      cluster::machine_of(job.cluster, engine_of(job.engine, job.cluster));
  const bool several =
      cluster::ranks_per_host(job.cluster, job.ranks).size() > 1;
  const cluster::LinkModel& link = several ? machine.network : machine.device;
  return {.bytes_per_s = static_cast<double>(
              std::min(each_way(link), each_way(machine.device))),
          .latency_ns = link.latency / plan::kPicosecondsPerNanosecond};
}

/// Here all ranks are on one host: the cluster's must be written out.
std::string with_hosts(std::string strategy, plan::Rank ranks_a_host) {
  constexpr std::string_view kAsHosts = "local=0";
  if (const auto at = strategy.find(kAsHosts); at != std::string::npos) {
    strategy.replace(
        at, kAsHosts.size(), fmt::format("local={}", ranks_a_host));
  }
  return strategy;
}

/// One size of one pattern, in bytes that a rank sends.
struct Point {
  double wire = 0, seconds = 0;
};

std::vector<Point> curve_of(plan::Pattern pattern,
                            plan::Rank world,
                            std::span<const EngineTime> measured) {
  std::vector<Point> curve;
  for (const EngineTime& one : measured) {
    if (one.pattern == pattern) {
      curve.push_back(
          {static_cast<double>(plan::wire_bytes(pattern, one.bytes, world)),
           plan::seconds_of(one.time)});
    }
  }
  std::ranges::sort(curve, {}, &Point::wire);
  return curve;
}

double seconds_at(const std::vector<Point>& curve, double wire) {
  const auto above = std::ranges::lower_bound(curve, wire, {}, &Point::wire);
  if (above == curve.begin()) {
    return above->seconds;
  }
  if (above == curve.end()) {
    return curve.back().seconds * wire / curve.back().wire;
  }
  const Point& below = *(above - 1);
  return below.seconds + (above->seconds - below.seconds) *
                             (wire - below.wire) / (above->wire - below.wire);
}

}  // namespace

Emulation emulate(const PredictRequest& job, const Prediction& like) {
  Emulation emulation{.link = link_of(job), .request = job};
  const cluster::LinkSpec& link = emulation.link;
  PredictRequest& request = emulation.request;
  request.strategy =
      with_hosts(like.record.configuration.strategy,
                 cluster::ranks_per_host(job.cluster, job.ranks).front());
  request.cluster.hosts = {
      {.name = "here", .slots = job.ranks, .interface = {}}};
  request.profile = like.costs.profile;
  request.samples_per_s.reset();
  request.batch_size = like.record.configuration.batch_size;
  request.machine = cluster::Machine{};
  request.machine->device = request.machine->network = {
      .bytes_per_s = std::llround(link.bytes_per_s),
      .latency = link.latency_ns * plan::kPicosecondsPerNanosecond,
      .sharing = cluster::LinkSharing::kDevice};
  request.algorithm.reset();
  request.software = engine_costs_named("link").costs;
  request.software->kernels = like.costs.software.kernels;
  return emulation;
}

double stretch_for(const simulator::Job& job,
                   const cluster::LinkSpec& link,
                   std::span<const EngineTime> measured) {
  double largest = 0;
  const plan::Rank world = job.input.world;
  for (const cluster::CollectiveCall& call : job.collective_shapes) {
    if (call.group.ranks < 2) {
      continue;
    }
    const auto curve = curve_of(call.pattern, world, measured);
    PACELINE_CHECK(!curve.empty());
    const auto wire = static_cast<double>(
        plan::wire_bytes(call.pattern, call.bytes, call.group.ranks));
    const int rounds = cluster::latencies_of(call.pattern, call.group.ranks);
    const double saved = curve.front().seconds *
                         (1 - static_cast<double>(rounds) /
                                  cluster::latencies_of(call.pattern, world));
    const double engine = seconds_at(curve, wire) - saved;
    const double modelled =
        rounds * static_cast<double>(link.latency_ns) * 1e-9 +
        wire / link.bytes_per_s;
    largest = std::max(largest, engine / modelled);
  }
  return std::max(1.0, largest);
}

}  // namespace paceline::predict
