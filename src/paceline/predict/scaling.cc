// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/scaling.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/simulator/job_cache.h"

namespace paceline::predict {
namespace {

// Largest extended cluster, as a multiple of the described one.
constexpr plan::Rank kMaxExtensionFactor = 8;
constexpr plan::Rank kMaxExtendedRanks = 4096;  // most ranks of an extended cluster

/// Returns why predictions end at the described cluster; empty if larger clusters of such hosts can
/// be predicted.
std::string reason_for_no_larger_cluster(const cluster::Cluster& cluster) {
  const cluster::ClusterHost& first = cluster.hosts.front();
  const bool alike = std::ranges::all_of(
      cluster.hosts, [&](const cluster::ClusterHost& it) { return it.slots == first.slots; });
  if (!alike) {
    return "the cluster's hosts differ, so that none larger is described";
  }
  if (cluster.hosts.size() == 1 && cluster.link(cluster::LinkScope::kHosts) == nullptr) {
    return "nothing describes a network between hosts";
  }
  return "";
}

ScalingBase base_of(const AdviseRequest& request) {
  const int batch = batch_size_of(request.job);
  if (!request.fit) {
    return {.batch_size = batch};  // the step is set to the null model of each prediction
  }
  const CheckedFigure& figure = request.fit->smallest(batch);
  if (figure.figure.batch_size != batch) {
    return {.batch_size = batch};
  }
  return {.ranks = figure.figure.ranks,
          .batch_size = figure.figure.batch_size,
          .step_s = figure.measured_s,
          .measured = true};
}

PredictRequest in_world(const AdviseRequest& request, const std::string& strategy,
                        plan::Rank ranks) {
  PredictRequest job = request.job;
  job.strategy = strategy;
  job.ranks = ranks;
  job.steps = 3;  // the fewest allowed; single steps are not shown
  auto& hosts = job.cluster.hosts;
  const cluster::ClusterHost like = hosts.front();
  for (int slots = job.cluster.slots(); slots < ranks; slots += like.slots) {
    hosts.push_back(like);
    hosts.back().name = fmt::format("{}+{}", like.name, hosts.size());
  }
  return request.fit ? request.fit->priced(job) : job;
}

void add_world(const AdviseRequest& request, plan::Rank ranks, Scaling& scaling) {
  simulator::JobCache jobs;
  PredictRequest job = in_world(request, scaling.strategy, ranks);
  job.jobs = &jobs;
  const Prediction prediction = predict(job);
  if (!scaling.base.measured) {
    scaling.base.step_s = plan::seconds_of(prediction.linear);
  }
  ScaledWorld world{.ranks = ranks, .advice = advice_of(job, prediction, request)};
  // Efficiency is the rate of a rank in samples per second, as a share of the base's rate of a
  // rank.
  const double of_base = batch_size_of(job) * scaling.base.step_s / scaling.base.batch_size;
  const auto efficiency = [&](plan::Picoseconds step) {
    return of_base / plan::seconds_of(std::max<plan::Picoseconds>(1, step));
  };
  world.efficiency = efficiency(world.advice.step);
  world.low = efficiency(world.advice.high);
  world.high = efficiency(world.advice.low);
  scaling.worlds.push_back(std::move(world));
}

}  // namespace

std::optional<plan::Rank> Scaling::knee_by(double ScaledWorld::*efficiency) const {
  std::optional<plan::Rank> knee;
  for (const ScaledWorld& world : worlds) {
    if (world.*efficiency >= kKneeEfficiency) {
      knee.reset();
    } else if (!knee) {
      knee = world.ranks;
    }
  }
  return knee;
}

Scaling scaling_of(const AdviseRequest& request, const std::string& strategy) {
  Scaling scaling{.strategy = strategy,
                  .base = base_of(request),
                  .worlds = {},
                  .described = request.job.cluster.slots(),
                  .end = reason_for_no_larger_cluster(request.job.cluster)};
  plan::Rank most = scaling.described;
  if (scaling.end.empty()) {
    most = std::max(most, std::min(kMaxExtensionFactor * most, kMaxExtendedRanks));
  }
  if (has_servers(strategy) && most > kMostServers) {
    most = kMostServers;
    scaling.end = "parameter servers beside more of them take minutes to price";
  }
  std::set<plan::Rank> worlds;
  if (scaling.described <= most) {
    worlds.insert(scaling.described);
  }
  for (plan::Rank ranks = 2; ranks <= most; ranks *= 2) {
    worlds.insert(ranks);
  }
  for (const plan::Rank ranks : worlds) {
    if (ranks <= scaling.base.ranks) {
      continue;
    }
    try {
      add_world(request, ranks, scaling);
    } catch (const UsageError&) {
      continue;  // the strategy cannot run there
    }
  }
  return scaling;
}

}  // namespace paceline::predict
