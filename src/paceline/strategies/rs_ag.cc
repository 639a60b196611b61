// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// All ranks sum a slice in two halves: a reduce-scatter gives each rank the sum of its own shard,
/// and a later all-gather gives all ranks all shards.
///
///   rounds per exchange            2
///   bytes sent, rank and exchange  2 (P-1)/P S, S = bytes of the slice, with
///                                  the padding of its bucket
///   extra memory, rank             none
///   guarantee                      exact: every rank has the same sum
///
/// Patarasuk and Yuan, JPDC 2009, doi:10.1016/j.jpdc.2008.09.002: the two phases of the ring, as
/// separate collectives.
class RsAg final : public ExchangeRule {
 public:
  ExchangeTraits traits(const PlanInput& input) const override {
    return {.shards = input.world,
            .divisor = static_cast<double>(input.world),
            .symmetry = symmetry_in_any_order(input.world),
            .own_shard = input.rank};
  }

  void extend_setup(const WireFormat&, SetupBuilder& builder) const override {
    builder.add_world_communicator(kGradientCommunicator);
  }

  void start(const WireSlice& wire_slice, Program& program) const override {
    program.reduce_scatter(wire_slice.mine,
                           wire_slice.kept.value_or(own_shard(wire_slice, program)),
                           communicator_named(program.setup(), kGradientCommunicator));
  }

  void finish(const WireSlice& wire_slice, Program& program) const override {
    program.all_gather(own_shard(wire_slice, program), wire_slice.mine,
                       communicator_named(program.setup(), kGradientCommunicator));
  }

  Picoseconds time(const PlanInput& input, std::int64_t bytes) const override {
    return input.alpha_beta->time(Pattern::kReduceScatter, bytes) +
           input.alpha_beta->time(Pattern::kAllGather, bytes);
  }

 private:
  static Slice own_shard(const WireSlice& wire_slice, const Program& program) {
    return shard_of(wire_slice.mine, program.input().rank, program.input().world);
  }
};

}  // namespace

std::unique_ptr<ExchangeRule> make_rs_ag(const Options&) { return std::make_unique<RsAg>(); }

}  // namespace paceline::strategies
