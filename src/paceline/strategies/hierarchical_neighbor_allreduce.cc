// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "paceline/strategies/host_communicators.h"
#include "paceline/strategies/neighbors.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

constexpr auto kHierarchicalNeighborAllreduce =
    "hierarchical-neighbor-allreduce";
constexpr auto kShare = "share";

/// The ranks of a host average a slice exactly, hosts average with their
/// neighbors in a graph of hosts.
///
///   style=shards: sum and share out inside the host, each rank exchanges its
///   share with the same place of neighboring hosts, gather inside the host
///     rounds per exchange            3
///     bytes sent, rank and exchange  2 (L-1)/L S inside, degree S/L between
///   style=leader: all-reduce inside the host, its first rank exchanges all of
///   it, broadcast of what it received, every rank mixes
///     rounds per exchange            3
///     bytes sent, rank and exchange  2 (L-1)/L S + degree S inside,
///                                    first ranks degree S between
///   extra memory, rank               (1 + degree) S of the model, a Lth of
///                                    that with shards
///   guarantee                        consensus: hosts agree in the limit only
///
/// L ranks a host, S = bytes of the slice with the padding of its bucket.  Both
/// compute the same; leader is what BlueFog does, shards puts a Lth of it on
/// each rank's lane.  Ying et al., NeurIPS 2021, arXiv:2110.13363; BlueFog,
/// 2021, arXiv:2111.04287.
class HierarchicalNeighborAllreduce final : public ExchangeRule {
 public:
  explicit HierarchicalNeighborAllreduce(const Options& options)
      : topology_(options.text("topology")),
        leader_(options.text("style") == "leader"),
        local_(static_cast<Rank>(options.count("local"))) {}

  ExchangeTraits traits(const PlanInput& input) const override {
    const Hosts all = hosts(input);
    const auto graph = this->graph(all);
    const Rank movable = leader_ ? all.local - 1 : all.local;
    return {.shards = leader_ ? 1 : all.local,
            .symmetry = graph->block() == 1
                            ? in_a_ring(input.world, all.local, movable)
                            : Symmetry{},
            .period = graph->period(),
            .hosts = all.count};
  }

  std::string asymmetry(const PlanInput& input) const override {
    const Hosts all = hosts(input);
    return asymmetry_of(*graph(all), all.count);
  }

  void extend(const PlanInput& input,
              const std::vector<Bucket>&,
              const WireFormat& format,
              SetupBuilder& builder) const override {
    const Hosts all = hosts(input);
    const Slice values =
        whole(builder.setup(), buffer_named(builder.setup(), kValues));
    const Elements share = leader_ ? values.count : values.count / all.local;
    builder.add_buffer(
        {.name = kShare, .dtype = format.type, .elements = share});
    const auto graph = this->graph(all);
    check_doubly_stochastic(*graph, kHierarchicalNeighborAllreduce);
    const std::size_t degree = graph->degree(all.host_of(input.rank));
    for (std::size_t i = 0; i < degree; ++i) {
      builder.add_buffer(
          {.name = inbox(i), .dtype = format.type, .elements = share});
    }
    add_host_communicators(all, builder);
    add_lane_communicators(all, leader_ ? 1 : all.local, builder);
  }

  void start(const WireSlice& crossing, Program& program) const override {
    const Hosts all = hosts(program.input());
    const Slice& wire = crossing.mine;
    const Slice own = own_share(wire, all, program);
    if (leader_ || all.local == 1) {
      program.kernel("copy", {{wire}}, {{own}}, {1});
    }
    if (all.local > 1 && leader_) {
      program.all_reduce(own, reducing_on_host(all, program));
    } else if (all.local > 1) {
      program.reduce_scatter(wire, own, reducing_on_host(all, program));
    }
    if (all.count > 1 && (!leader_ || place(all, program) == 0)) {
      exchange(own, all, program);
    }
  }

  void finish(const WireSlice& crossing, Program& program) const override {
    const Hosts all = hosts(program.input());
    const Slice& wire = crossing.mine;
    const Slice own = own_share(wire, all, program);
    if (leader_ && all.local > 1) {
      const Rank root = all.rank_of(all.host_of(program.input().rank), 0);
      for (std::size_t i = 0; i < mixing(all, program).from.size(); ++i) {
        program.broadcast(
            received(own, i, program), root, gathering_on_host(all, program));
      }
    }
    const bool gathers = !leader_ && all.local > 1;
    mix(own, gathers ? own : wire, all, program);
    if (gathers) {
      program.all_gather(own, wire, gathering_on_host(all, program));
    }
  }

  Picoseconds time(const AlphaBeta& model, std::int64_t bytes) const override {
    return time_on(model.all_reduce, "all-reduce", bytes);
  }

 private:
  static std::string inbox(std::size_t neighbor) {
    return fmt::format("neighbor{}", neighbor);
  }
  static Slice received(const Slice& own,
                        std::size_t neighbor,
                        const Program& program) {
    return range_in(inbox(neighbor), own, program);
  }

  Hosts hosts(const PlanInput& input) const {
    return hosts_of(input, input.world, local_, kHierarchicalNeighborAllreduce);
  }
  std::unique_ptr<const Topology> graph(const Hosts& all) const {
    return topology_.on({all.count, 1});
  }
  /// The row of this rank's host.
  const Mixing& mixing(const Hosts& all, Program& program) const {
    return program.derived<Mixing>([&] {
      return graph(all)->mixing(all.host_of(program.input().rank),
                                program.phase());
    });
  }
  static Rank place(const Hosts& all, const Program& program) {
    return all.place_of(program.input().rank);
  }
  /// Beside the values, which stay as they are until the slice is taken.
  Slice own_share(const Slice& wire,
                  const Hosts& all,
                  const Program& program) const {
    const Rank pieces = leader_ ? 1 : all.local;
    return {buffer_named(program.setup(), kShare),
            wire.begin / pieces,
            wire.count / pieces};
  }

  /// With the same place of the neighboring hosts.
  void exchange(const Slice& own, const Hosts& all, Program& program) const {
    const Mixing& hosts = mixing(all, program);
    const Rank here = place(all, program);
    std::vector<Message> sends, receives;
    if (hosts.from.empty() && hosts.to.empty()) {
      return;  // a step without neighbors
    }
    for (const Rank to : hosts.to) {
      sends.push_back({all.rank_of(to, here), own});
    }
    for (std::size_t i = 0; i < hosts.from.size(); ++i) {
      receives.push_back(
          {all.rank_of(hosts.from[i].rank, here), received(own, i, program)});
    }
    program.exchange(
        lane_of(all, program), std::move(sends), std::move(receives));
  }

  /// What was exchanged are sums over hosts: their mean is taken here.
  void mix(const Slice& own,
           const Slice& mean,
           const Hosts& all,
           Program& program) const {
    const Mixing& hosts = mixing(all, program);
    std::vector<Access> reads{{own}};
    std::vector<double> weights{hosts.self / all.local};
    for (std::size_t i = 0; i < hosts.from.size(); ++i) {
      reads.push_back({received(own, i, program)});
      weights.push_back(hosts.from[i].weight / all.local);
    }
    program.kernel("linear", std::move(reads), {{mean}}, std::move(weights));
  }

  TopologyChoice topology_;
  bool leader_;
  Rank local_;
};

}  // namespace

std::unique_ptr<ExchangeRule> make_hierarchical_neighbor_allreduce(
    const Options& options) {
  return std::make_unique<HierarchicalNeighborAllreduce>(options);
}

}  // namespace paceline::strategies
