// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/choco_estimates.h"
#include "paceline/strategies/hosts.h"
#include "paceline/strategies/neighbors.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

constexpr auto kHierarchicalNeighborAllreduce = "hierarchical-neighbor-allreduce";
constexpr auto kHostShard = "share";

/// The ranks of a host average a slice exactly, and hosts average with their neighbors in a graph
/// of hosts.
///
///   rounds per exchange            3
///   bytes sent, rank and exchange  2 (L-1)/L S inside, degree S/L between;
///                                  leader: 2 (L-1)/L S + degree S inside, first
///                                  ranks degree S between
///   extra memory, rank             (1 + degree) S of the model, 1/L of that with
///                                  shards
///   guarantee                      consensus: hosts agree in the limit only
///
/// L ranks per host, S = bytes of the slice with the padding of its bucket.  style=shards:
/// reduce-scatter inside the host, each rank exchanges its shard with the ranks of neighboring
/// hosts that have the same local rank, all-gather inside.  style=leader: all-reduce inside the
/// host, its first rank exchanges the slice and broadcasts the received ones, every rank averages.
/// Both styles compute the same result; BlueFog uses leader.  With a codec, the shards of the
/// hosts' means are averaged as in ChocoEstimates, in buffers as large as the values.  Ying et al.,
/// NeurIPS 2021, arXiv:2110.13363; BlueFog, 2021, arXiv:2111.04287.
class HierarchicalNeighborAllreduce final : public ExchangeRule {
 public:
  HierarchicalNeighborAllreduce(const Options& options, std::unique_ptr<CodecRule> codec)
      : topology_(options.text("topology")),
        leader_(options.text("style") == "leader"),
        ranks_per_host_(static_cast<Rank>(options.count("local"))),
        estimates_(
            make_choco_estimates(std::move(codec), kHierarchicalNeighborAllreduce, options)) {
    if (leader_ && estimates_) {
      throw UsageError(
          fmt::format("strategy option {}:style=leader: with a codec every rank of a host sends "
                      "the code of its share; take style=shards",
                      kHierarchicalNeighborAllreduce));
    }
  }

  ExchangeTraits traits(const PlanInput& input) const override {
    const Hosts all = hosts(input);
    const auto graph = this->graph(all);
    // With a codec, the ranks of a host are not interchangeable: their shards have different
    // tensors, and a codec may encode tensors one by one.
    const Rank movable = estimates_ ? 1 : leader_ ? all.local - 1 : all.local;
    return {.shards = leader_ ? 1 : all.local,
            .symmetry = graph->block() == 1 ? symmetry_in_a_ring(input.world, all.local, movable)
                                            : Symmetry{},
            .period = graph->period(),
            .hosts = all.count};
  }

  bool cuts() const override { return ranks_per_host_ != 1; }

  std::string asymmetry_text(const PlanInput& input) const override {
    const Hosts all = hosts(input);
    return asymmetry_text_of(*graph(all), all.count);
  }

  void extend_setup(const WireFormat& format, SetupBuilder& builder) const override {
    const PlanInput& input = builder.input();
    const Hosts all = hosts(input);
    const auto graph = this->graph(all);
    check_averages(*graph, kHierarchicalNeighborAllreduce);
    const Rank host = all.host_of(input.rank);
    if (estimates_) {
      builder.add_buffer_like_values(kHostShard);
      estimates_->extend_setup({*graph, all.count, host}, builder);
    } else {
      add_shares(graph->degree(host), all, format, builder);
    }
    add_host_communicators(all, builder);
    add_lane_communicators(all, leader_ ? 1 : all.local, builder);
  }

  void start(const WireSlice& wire_slice, Program& program) const override {
    const Hosts all = hosts(program.input());
    const Slice& wire = wire_slice.mine;
    const Slice own = own_share(wire, all, program);
    if (leader_ || all.local == 1) {
      program.kernel("copy", {{wire}}, {{own}}, {1});
    }
    if (all.local > 1 && leader_) {
      program.all_reduce(own, reduce_scatter_communicator(all, program));
    } else if (all.local > 1) {
      program.reduce_scatter(wire, own, reduce_scatter_communicator(all, program));
    }
    if (estimates_ && all.local > 1) {
      program.kernel("linear", {{own}}, {{own}}, {1.0 / all.local});
    }
    if (all.count == 1 || (leader_ && place(all, program) != 0)) {
      return;
    }
    const MixingRow row = mixing_row_of_ranks(all, program);
    if (estimates_) {
      estimates_->start(own, row, lane_communicator(all, program), program);
    } else {
      Neighbors::exchange(row, own, lane_communicator(all, program), program);
    }
  }

  void finish(const WireSlice& wire_slice, Program& program) const override {
    const Hosts all = hosts(program.input());
    const Slice& wire = wire_slice.mine;
    const Slice own = own_share(wire, all, program);
    if (leader_ && all.local > 1) {
      const Rank root = all.rank_of(all.host_of(program.input().rank), 0);
      for (std::size_t i = 0; i < mixing(all, program).from.size(); ++i) {
        program.broadcast(Neighbors::received(own, i, program), root,
                          host_all_gather_communicator(all, program));
      }
    }
    const bool gathers = !leader_ && all.local > 1;
    if (!estimates_) {
      append_average(own, gathers ? own : wire, all, program);
    } else if (all.count > 1) {
      estimates_->finish(own, mixing_row_of_ranks(all, program), program);
    }
    if (estimates_ && !gathers) {
      program.kernel("copy", {{own}}, {{wire}}, {1});
    }
    if (gathers) {
      program.all_gather(own, wire, host_all_gather_communicator(all, program));
    }
  }

  const CodecRule* codec() const override { return estimates_ ? &estimates_->codec() : nullptr; }

 private:
  /// Adds the buffers of this rank's shard and of the shards of `degree` neighbors.
  void add_shares(std::size_t degree, const Hosts& all, const WireFormat& format,
                  SetupBuilder& builder) const {
    const Slice values = whole(builder.setup(), kValues);
    const Elements share = values.count / pieces(all);
    builder.add_buffer({.name = kHostShard, .dtype = format.type, .elements = share});
    for (std::size_t i = 0; i < degree; ++i) {
      builder.add_buffer({.name = Neighbors::inbox(i), .dtype = format.type, .elements = share});
    }
  }

  Rank pieces(const Hosts& all) const { return leader_ ? 1 : all.local; }

  Hosts hosts(const PlanInput& input) const {
    return hosts_of(input, input.world, ranks_per_host_, kHierarchicalNeighborAllreduce);
  }
  std::unique_ptr<const Topology> graph(const Hosts& all) const {
    return topology_.on({all.count, 1});
  }
  /// Returns the row of this rank's host in the mixing matrix of hosts.
  const MixingRow& mixing(const Hosts& all, Program& program) const {
    return program.derived<MixingRow>(
        [&] { return graph(all)->mixing(all.host_of(program.input().rank), program.phase()); });
  }
  /// The row of this rank's host, in which each host is replaced by its rank with the same local
  /// rank as this rank.
  MixingRow mixing_row_of_ranks(const Hosts& all, Program& program) const {
    return renumbered(mixing(all, program), [&, here = place(all, program)](Rank host) {
      return all.rank_of(host, here);
    });
  }
  static Rank place(const Hosts& all, const Program& program) {
    return all.local_rank_of(program.input().rank);
  }
  /// Returns the slice that holds this rank's shard of `wire`. It is separate from the values,
  /// which stay unchanged until the average replaces them. With a codec the shard has its own
  /// offset in a buffer as large as the values.
  Slice own_share(const Slice& wire, const Hosts& all, const Program& program) const {
    const Elements count = wire.count / pieces(all);
    return {buffer_named(program.setup(), kHostShard),
            estimates_ ? wire.begin + place(all, program) * count : wire.begin / pieces(all),
            count};
  }

  /// Appends the weighted average with the neighbors. The exchanged slices are sums over the L
  /// ranks of a host, so the weights are divided by L.
  void append_average(const Slice& own, const Slice& mean, const Hosts& all,
                      Program& program) const {
    const MixingRow& hosts = mixing(all, program);
    program.kernel("linear", Neighbors::operands(hosts, own, program), {{mean}},
                   Neighbors::weights(hosts, all.local));
  }

  TopologyChoice topology_;
  bool leader_;
  Rank ranks_per_host_;
  std::optional<ChocoEstimates> estimates_;
};

}  // namespace

std::unique_ptr<ExchangeRule> make_hierarchical_neighbor_allreduce(
    const Options& options, std::unique_ptr<CodecRule> codec) {
  return std::make_unique<HierarchicalNeighborAllreduce>(options, std::move(codec));
}

}  // namespace paceline::strategies
