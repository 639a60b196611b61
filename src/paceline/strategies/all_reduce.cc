// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// Sums a slice over all ranks, and each rank has the sum afterwards.  If the compressed values of
/// a codec cannot be summed, every rank gathers and combines those of all ranks, or pairs of ranks
/// exchange them.
///
///   rounds per exchange            1
///   bytes sent, rank and exchange  2(P-1)/P S, S = bytes of the slice;
///                                  gathered: (P-1) S
///   extra memory, rank             none; gathered: P S of the model
///   guarantee                      exact: every rank has the same sum
///
/// The reduction is a sum. The update divides it by the number of ranks, so tests can check the
/// reduced value exactly. A world of one rank exchanges nothing. Patarasuk and Yuan, JPDC 2009,
/// doi:10.1016/j.jpdc.2008.09.002.
class AllReduce final : public ExchangeRule {
 public:
  ExchangeTraits traits(const PlanInput& input) const override {
    return {.divisor = static_cast<double>(input.world),
            .symmetry = symmetry_in_any_order(input.world)};
  }

  bool combines(Combination) const override { return true; }

  void extend_setup(const WireFormat& format, SetupBuilder& builder) const override {
    if (format.combination == Combination::kMerge) {
      const Slice values = whole(builder.setup(), kValues);
      builder.add_buffer({.name = kGathered,
                          .dtype = format.type,
                          .elements = builder.input().world * values.count / format.packed});
    }
    builder.add_world_communicator(kGradientCommunicator);
  }

  void start(const WireSlice& wire_slice, Program& program) const override {
    const auto on = communicator_named(program.setup(), kGradientCommunicator);
    switch (wire_slice.format.combination) {
      case Combination::kSum:
      case Combination::kUncuttableSum:
        program.all_reduce(wire_slice.mine, on);
        break;
      case Combination::kMerge:
      case Combination::kGather:
        program.all_gather(wire_slice.mine, gathered(wire_slice, program), on);
        break;
      case Combination::kPairs:
        program.exchange(on, {{wire_slice.peer, wire_slice.mine}},
                         {{wire_slice.peer, wire_slice.all}});
        break;
    }
  }

  void finish(const WireSlice& wire_slice, Program& program) const override {
    if (wire_slice.format.combination == Combination::kMerge) {
      program.kernel(wire_slice.format.merge, {{gathered(wire_slice, program)}},
                     {{wire_slice.mine}});
    }
  }

  Picoseconds time_of_wire_forms(const PlanInput& input, std::int64_t bytes,
                                 Combination how) const override {
    switch (how) {
      case Combination::kMerge:
      case Combination::kGather:
        return input.alpha_beta->time(Pattern::kAllGather, bytes * input.world);
      case Combination::kPairs:
        return input.alpha_beta->message_time(bytes);
      default:
        return time(input, bytes);
    }
  }

 private:
  static constexpr auto kGathered = "gathered";

  static Slice gathered(const WireSlice& wire_slice, const Program& program) {
    if (wire_slice.format.combination == Combination::kGather) {
      return wire_slice.all;
    }
    const Elements world = program.input().world;
    return {buffer_named(program.setup(), kGathered), world * wire_slice.mine.begin,
            world * wire_slice.mine.count};
  }
};

}  // namespace

std::unique_ptr<ExchangeRule> make_all_reduce(const Options&) {
  return std::make_unique<AllReduce>();
}

}  // namespace paceline::strategies
