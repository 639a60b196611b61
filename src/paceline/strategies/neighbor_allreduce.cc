// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "paceline/strategies/choco_estimates.h"
#include "paceline/strategies/neighbors.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

constexpr auto kNeighborAllreduce = "neighbor-allreduce";
/// Every rank averages a slice with its neighbors in a graph only: x_i <- sum over j of W_ij x_j.
///
///   rounds per exchange            1
///   bytes sent, rank and exchange  degree * S, S = bytes of the slice
///   extra memory, rank             degree * S of the model
///   guarantee                      consensus: ranks agree in the limit only
///
/// Rows and columns of W sum to 1, so the mean over the ranks is preserved.  With a codec, the
/// average is that of ChocoEstimates.  Lian et al., NeurIPS 2017, arXiv:1705.09056; one peer per
/// step: Assran et al., ICML 2019, arXiv:1811.10792.
class NeighborAllreduce final : public ExchangeRule {
 public:
  NeighborAllreduce(const Options& options, std::unique_ptr<CodecRule> codec)
      : neighbors_(options, kNeighborAllreduce),
        estimates_(make_choco_estimates(std::move(codec), kNeighborAllreduce, options)) {}

  ExchangeTraits traits(const PlanInput& input) const override { return neighbors_.traits(input); }

  std::string asymmetry_text(const PlanInput& input) const override {
    return asymmetry_text_of(*neighbors_.graph(input), input.world);
  }

  void extend_setup(const WireFormat& format, SetupBuilder& builder) const override {
    const PlanInput& input = builder.input();
    const auto graph = neighbors_.graph(input);
    check_averages(*graph, kNeighborAllreduce);
    if (estimates_) {
      estimates_->extend_setup({*graph, input.world, input.rank}, builder);
    } else {
      neighbors_.add_inboxes(format, builder);
    }
    builder.add_world_communicator(kNeighborCommunicator);
  }

  void start(const WireSlice& wire_slice, Program& program) const override {
    const MixingRow& mixing = neighbors_.mixing(program);
    const CommunicatorId on = communicator_named(program.setup(), kNeighborCommunicator);
    if (estimates_) {
      estimates_->start(wire_slice.mine, mixing, on, program);
    } else {
      Neighbors::exchange(mixing, wire_slice.mine, on, program);
    }
  }

  void finish(const WireSlice& wire_slice, Program& program) const override {
    const Slice& wire = wire_slice.mine;
    const MixingRow& mixing = neighbors_.mixing(program);
    if (estimates_) {
      estimates_->finish(wire, mixing, program);
    } else if (!mixing.from.empty()) {
      program.kernel("linear", Neighbors::operands(mixing, wire, program), {{wire}},
                     Neighbors::weights(mixing));
    }
  }

  Picoseconds time(const PlanInput& input, std::int64_t bytes) const override {
    return neighbors_.time(input, bytes);
  }

  const CodecRule* codec() const override { return estimates_ ? &estimates_->codec() : nullptr; }

 private:
  Neighbors neighbors_;
  std::optional<ChocoEstimates> estimates_;
};

}  // namespace

std::unique_ptr<ExchangeRule> make_neighbor_allreduce(const Options& options,
                                                      std::unique_ptr<CodecRule> codec) {
  return std::make_unique<NeighborAllreduce>(options, std::move(codec));
}

}  // namespace paceline::strategies
