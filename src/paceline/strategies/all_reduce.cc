// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// All ranks sum a slice; each has the sum when it is given back.
///
///   rounds per exchange            1
///   bytes sent, rank and exchange  2(P-1)/P S   S = bytes of the slice
///   extra memory, rank             none
///   guarantee                      exact: every rank has the same sum
///
/// The reduction is a sum; the mean is taken by whoever applies it, so that
/// the reduced value itself can be checked exactly.  A world of one exchanges
/// nothing.  Patarasuk and Yuan, JPDC 2009, doi:10.1016/j.jpdc.2008.09.002.
class AllReduce final : public ExchangeRule {
 public:
  ExchangeTraits traits(const PlanInput& input) const override {
    return {.divisor = static_cast<double>(input.world),
            .symmetry = any_order(input.world)};
  }

  void extend(const PlanInput& input,
              const std::vector<Bucket>&,
              DType,
              SetupBuilder& builder) const override {
    if (input.world > 1) {
      builder.add_world(kGradientCommunicator);
    }
  }

  void start(const Slice& slice,
             const CodecRule& codec,
             Program& program) const override {
    if (program.input().world > 1) {
      codec.encode(slice, program);
      program.all_reduce(
          codec.wire(slice, program.setup()),
          communicator_named(program.setup(), kGradientCommunicator));
    }
  }

  void finish(const Slice& slice,
              const CodecRule& codec,
              Program& program) const override {
    if (program.input().world > 1) {
      codec.decode(slice, program);
    }
  }

  Picoseconds time(const AlphaBeta& model, std::int64_t bytes) const override {
    return time_on(model.all_reduce, "all-reduce", bytes);
  }
};

}  // namespace

std::unique_ptr<ExchangeRule> make_all_reduce(const Options&) {
  return std::make_unique<AllReduce>();
}

}  // namespace paceline::strategies
