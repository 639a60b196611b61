// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/request_costs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "paceline/predict/engine_choice.h"
#include "paceline/predict/kernel_costs.h"

namespace paceline::predict {
namespace {

/// A hop with at least this latency is taken to be TCP/IP; over RDMA it takes 1 to 3 us.
constexpr plan::Picoseconds kTcpLatency = 10'000'000;

/// Returns the rate of all network cards of the largest host if every slot has its own card; else
/// the rate of one card.
std::int64_t bytes_per_s_of_cards(const cluster::Cluster& cluster,
                                  const cluster::LinkModel& network) {
  double cards = 1;
  if (network.sharing == cluster::LinkSharing::kDevice) {
    for (const auto& host : cluster.hosts) {
      cards = std::max(cards, static_cast<double>(host.slots));
    }
  }
  return std::llround(std::min(cards * static_cast<double>(network.bytes_per_s),
                               static_cast<double>(cluster::kMostBytesPerSecond)));
}

void scale_rates(double share, cluster::LinkModel& link, std::vector<cluster::LinkFit>& fits) {
  link.bytes_per_s = std::clamp<std::int64_t>(
      std::llround(static_cast<double>(link.bytes_per_s) * share), 1, cluster::kMostBytesPerSecond);
  for (cluster::LinkFit& fit : fits) {
    for (plan::AlphaBetaPiece& piece : fit.line.pieces) {
      piece.beta_ps_per_byte /= share;
    }
  }
}

/// Applies the corrections by measured figures to the links and to the engine's software.
void apply_measured_costs(const MeasuredCosts& measured, simulator::Costs& costs) {
  cluster::Machine& machine = costs.machine;
  scale_rates(measured.network_share, machine.network, machine.fits);
  scale_rates(measured.device_share, machine.device, machine.device_fits);
  machine.interference.compute_under_transfer /= 1 + measured.slowdown;
  costs.software.collective =
      std::max<plan::Picoseconds>(0, costs.software.collective + measured.collective);
}

plan::AlphaBetaTime delayed_line(plan::AlphaBetaTime line, plan::Picoseconds by) {
  for (plan::AlphaBetaPiece& piece : line.pieces) {
    piece.alpha += by;
  }
  return line;
}

}  // namespace

cluster::Machine machine_for(const cluster::Cluster& cluster, const EngineCosts& engine) {
  cluster::Machine machine = cluster::machine_of(cluster, engine.fit_engine_name());
  machine.device.bytes_per_s = std::max<std::int64_t>(
      1, std::llround(static_cast<double>(machine.device.bytes_per_s) * engine.device_share));
  const bool tcp = machine.network.latency >= kTcpLatency;
  if (tcp && engine.tcp_copies) {
    machine.copies_bytes_per_s = bytes_per_s_of_cards(cluster, machine.network);
  }
  if (engine.tcp_s_per_byte > 0 && tcp) {  // the card waits while the host works on a byte
    const auto rate = static_cast<double>(machine.network.bytes_per_s);
    machine.network.bytes_per_s = std::llround(rate / (1 + rate * engine.tcp_s_per_byte));
  }
  if (engine.under_compute > 0) {
    machine.interference.device_link_under_compute = engine.under_compute;
  }
  if (machine.algorithm != cluster::Algorithm::kMeasured) {
    machine.algorithm = engine.algorithm;
  }
  machine.fallback_algorithm = engine.algorithm;
  return machine;
}

simulator::Costs costs_of(const PredictRequest& request, const EngineCosts& software,
                          const plan::PlanInput& input, std::vector<records::Warning>& warnings) {
  const std::string& engine = software.fit_engine_name();
  simulator::Costs costs;
  costs.machine = request.machine ? *request.machine : machine_for(request.cluster, software);
  costs.machine.noise = request.noise;
  if (request.algorithm) {
    costs.machine.algorithm = cluster::algorithm_named(*request.algorithm);
  }
  if (!request.machine) {
    check_fits(request.cluster, engine, costs.machine, warnings);
    check_generation(request.cluster, software, warnings);
    if (!request.samples_per_s) {
      check_device(request.profile_device, request.cluster, engine, warnings);
    }
    check_scale(software, request.ranks, costs.machine, warnings);
  }
  costs.software = software.costs;
  if (cluster::has_collective_fit(costs.machine) ||
      cluster::launch_is_calibrated(false, costs.machine) ||
      cluster::launch_is_calibrated(true, costs.machine)) {
    costs.software.issue = 0;  // the fit of measured collectives includes the time of the issue
  }
  costs.software.kernels = kernel_costs_of(request, input);
  check_memory(request.cluster, costs.software, warnings);
  // Costs are checked before planners compute with them, because times could overflow.
  cluster::check_costs(costs.machine, costs.software);
  if (request.measured != MeasuredCosts{}) {
    apply_measured_costs(request.measured, costs);
  }
  return costs;
}

void remove_software_costs(const PredictRequest& request, simulator::Costs& costs) {
  if (!request.machine) {
    costs.machine.link_rates_only = true;
  }
  costs.software = {.concurrent_collectives = costs.software.concurrent_collectives,
                    .kernels_on_device = costs.software.kernels_on_device,
                    .kernels = std::move(costs.software.kernels)};
}

plan::AlphaBeta alpha_beta_of(const cluster::Machine& machine,
                              const cluster::SoftwareCosts& software, const cluster::Group& group) {
  constexpr std::int64_t kMuch = 64 << 20;
  const auto line = [&](plan::Pattern pattern) {
    const auto time = [&](std::int64_t bytes) {
      return cluster::alone(cluster::collective_cost({pattern, bytes, group}, machine), group,
                            machine);
    };
    // The start-up under compute is used, because most collectives of a plan start while ranks
    // compute.
    const plan::Picoseconds asked =
        software.issue + software.collective_under_compute * cluster::log2_up(group.ranks);
    const cluster::LinkFit* fit = cluster::measured_fit({pattern, kMuch, group}, machine);
    if (fit != nullptr && fit->ranks == group.ranks) {
      return delayed_line(fit->line, asked);
    }
    const plan::Picoseconds fixed =
        asked +
        (fit != nullptr ? 0 : software.collective + group.ranks * software.collective_per_rank);
    const plan::Picoseconds start = time(0);
    return plan::AlphaBetaTime{{{.alpha = fixed + start,
                                 .beta_ps_per_byte = static_cast<double>(time(kMuch) - start) /
                                                     static_cast<double>(kMuch)}}};
  };
  const bool remote = group.hosts > 1;
  const cluster::LinkModel& wire = remote ? machine.network : machine.device;
  const cluster::LinkFit* message = cluster::message_fit(remote, machine);
  return {
      .origin = "the cluster's links",
      .world = group.ranks,
      .all_reduce = line(plan::Pattern::kAllReduce),
      .reduce_scatter = line(plan::Pattern::kReduceScatter),
      .all_gather = line(plan::Pattern::kAllGather),
      .broadcast = line(plan::Pattern::kBroadcast),
      .message = message != nullptr
                     ? message->line
                     : plan::AlphaBetaTime{{{.alpha = software.message + wire.latency,
                                             .beta_ps_per_byte =
                                                 1e12 / static_cast<double>(wire.bytes_per_s)}}},
      .concurrent_collectives = software.concurrent_collectives};
}

}  // namespace paceline::predict
