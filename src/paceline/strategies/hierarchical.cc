// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "paceline/strategies/hosts.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Sums a slice over all ranks, first inside hosts.  The ranks of a host reduce-scatter the slice;
/// the ranks that have the same local rank on their hosts all-reduce their shard; the ranks of a
/// host all-gather the shards.  A host's network card sends each byte once, in as many concurrent
/// all-reduces as the host has ranks.
///
///   rounds per exchange            3
///   bytes sent, rank and exchange  2 (L-1)/L S inside the host,
///                                  2 (H-1)/H S/L between hosts;
///                                  L ranks per host, H hosts, S = bytes of the
///                                  slice with the padding of its bucket
///   extra memory, rank             none
///   guarantee                      exact: every rank has the same sum
///
/// Jia et al., 2018, arXiv:1807.11205.
class Hierarchical final : public ExchangeRule {
 public:
  explicit Hierarchical(Rank local) : ranks_per_host_(local) {}

  ExchangeTraits traits(const PlanInput& input) const override {
    const Hosts all = hosts(input);
    return {.shards = all.local,
            .divisor = static_cast<double>(input.world),
            .symmetry = symmetry_in_any_order(input.world, all.local, all.local),
            .hosts = all.count,
            .own_shard = all.local_rank_of(input.rank)};
  }

  void extend_setup(const WireFormat&, SetupBuilder& builder) const override {
    const Hosts all = hosts(builder.input());
    add_host_communicators(all, builder);
    add_lane_communicators(all, all.local, builder);
  }

  void start(const WireSlice& wire_slice, Program& program) const override {
    const Hosts all = hosts(program.input());
    const Slice& wire = wire_slice.mine;
    const Slice own = wire_slice.kept.value_or(shard_on_host(all, wire, program));
    if (all.local > 1) {
      program.reduce_scatter(wire, own, reduce_scatter_communicator(all, program));
    } else if (wire_slice.kept) {
      program.kernel("copy", {{wire}}, {{own}}, {1});
    }
    if (all.count > 1) {
      program.all_reduce(own, lane_communicator(all, program));
    }
  }

  void finish(const WireSlice& wire_slice, Program& program) const override {
    gather_on_host(hosts(program.input()), wire_slice.mine, program);
  }

 private:
  Hosts hosts(const PlanInput& input) const {
    return hosts_of(input, input.world, ranks_per_host_, "hierarchical");
  }

  Rank ranks_per_host_;
};

}  // namespace

std::unique_ptr<ExchangeRule> make_hierarchical(const Options& options) {
  return std::make_unique<Hierarchical>(static_cast<Rank>(options.count("local")));
}

}  // namespace paceline::strategies
