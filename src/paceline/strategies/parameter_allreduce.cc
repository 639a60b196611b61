// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

constexpr auto kMeanBuffer = "mean";
constexpr auto kMeanCommunicator = "mean";

/// All ranks average their parameters in a separate buffer; the parameters stay unchanged until the
/// mean replaces them.
///
///   rounds per exchange            1
///   bytes sent, rank and exchange  2(P-1)/P S, S = bytes of the slice
///   extra memory, rank             S of the model
///   guarantee                      consensus; with atc ranks are equal, except
///                                  for rounding, after each step
///
/// This is BlueFog's allreduce.  If nothing reads the parameters during the exchange, as with atc,
/// all-reduce computes the same in place.
class ParameterAllreduce final : public ExchangeRule {
 public:
  ExchangeTraits traits(const PlanInput& input) const override {
    return {.symmetry = symmetry_in_any_order(input.world)};
  }

  void extend_setup(const WireFormat& format, SetupBuilder& builder) const override {
    builder.add_buffer_like_values(kMeanBuffer, InitialValue::kZero, format.type);
    builder.add_world_communicator(kMeanCommunicator);
  }

  void start(const WireSlice& wire_slice, Program& program) const override {
    const Slice sum = mean_slice(wire_slice.mine, program);
    program.kernel("copy", {{wire_slice.mine}}, {{sum}}, {1});
    program.all_reduce(sum, communicator_named(program.setup(), kMeanCommunicator));
  }

  void finish(const WireSlice& wire_slice, Program& program) const override {
    program.kernel("linear", {{mean_slice(wire_slice.mine, program)}}, {{wire_slice.mine}},
                   {1.0 / program.input().world});
  }

 private:
  static Slice mean_slice(const Slice& wire, const Program& program) {
    return same_range_in(kMeanBuffer, wire, program);
  }
};

}  // namespace

std::unique_ptr<ExchangeRule> make_parameter_allreduce(const Options&) {
  return std::make_unique<ParameterAllreduce>();
}

}  // namespace paceline::strategies
