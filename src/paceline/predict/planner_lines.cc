// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/planner_lines.h"

#include "paceline/cluster/collective_model.h"

namespace paceline::predict {
namespace {

plan::AlphaBetaLine later(plan::AlphaBetaLine line, plan::Picoseconds by) {
  for (plan::AlphaBetaPiece& piece : line.pieces) {
    piece.alpha += by;
  }
  return line;
}

}  // namespace

plan::AlphaBeta alpha_beta_of(const cluster::Machine& machine,
                              const cluster::SoftwareCosts& software,
                              const cluster::Group& group) {
  constexpr std::int64_t kMuch = 64 << 20;
  const auto line = [&](plan::Pattern pattern) {
    const auto time = [&](std::int64_t bytes) {
      return cluster::alone(
          cluster::price({pattern, bytes, group}, machine), group, machine);
    };
    // Most collectives of a plan start while ranks compute.
    const plan::Picoseconds asked =
        software.issue +
        software.collective_under_compute * cluster::log2_up(group.ranks);
    const cluster::LinkFit* fit =
        cluster::measured_fit({pattern, kMuch, group}, machine);
    if (fit != nullptr && fit->ranks == group.ranks) {
      return later(fit->line, asked);
    }
    const plan::Picoseconds fixed =
        asked + (fit != nullptr
                     ? 0
                     : software.collective +
                           group.ranks * software.collective_per_rank);
    const plan::Picoseconds start = time(0);
    return plan::AlphaBetaLine{
        {{.alpha = fixed + start,
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
      .message =
          message != nullptr
              ? message->line
              : plan::AlphaBetaLine{{{.alpha = software.message + wire.latency,
                                      .beta_ps_per_byte =
                                          1e12 / static_cast<double>(
                                                     wire.bytes_per_s)}}},
      .concurrent_collectives = software.concurrent_collectives};
}

}  // namespace paceline::predict
