// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "paceline/strategies/hosts.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"
#include "paceline/strategies/topology.h"

namespace paceline::strategies {
namespace {

constexpr auto kNeighborCommunicator = "neighbors";

/// Every rank averages a slice with its neighbors in a graph and with nobody
/// else: x_i <- sum over j of W_ij x_j.
///
///   rounds per exchange            1
///   bytes sent, rank and exchange  degree * S   S = bytes of the slice
///   extra memory, rank             degree * S of the model
///   guarantee                      consensus: ranks agree in the limit only
///
/// Rows and columns of W sum to 1 on every topology here, so the mean over the
/// ranks is kept.  Lian et al., NeurIPS 2017, arXiv:1705.09056; one peer a
/// step: Assran et al., ICML 2019, arXiv:1811.10792.
class NeighborAllreduce final : public ExchangeRule {
 public:
  NeighborAllreduce(std::string topology, Rank local)
      : topology_(std::move(topology)), local_(local) {}

  ExchangeTraits traits(const PlanInput& input) const override {
    const Rank local = hosts(input).local;
    const bool by_host = topology_ == "inner-outer-exp";
    return {.symmetry = in_a_ring(input.world, by_host ? local : 1),
            .period = period_of(topology_, input.world, local)};
  }

  bool symmetric_weights(const PlanInput& input) const override {
    return is_symmetric(topology_, input.world, hosts(input).local);
  }

  void extend(const PlanInput& input,
              const std::vector<Bucket>&,
              const WireFormat& format,
              SetupBuilder& builder) const override {
    const Slice values =
        whole(builder.setup(), buffer_named(builder.setup(), kValues));
    const std::size_t degree =
        degree_of(topology_, input.world, hosts(input).local);
    for (std::size_t i = 0; i < degree; ++i) {
      builder.add_buffer({.name = inbox(i),
                          .dtype = format.type,
                          .elements = values.count,
                          .stands_for = values});
    }
    builder.add_world(kNeighborCommunicator);
  }

  void start(const Crossing& crossing, Program& program) const override {
    const Slice& wire = crossing.mine;
    const Mixing mixing = mixing_for(program);
    std::vector<Message> sends, receives;
    for (const Rank to : mixing.to) {
      sends.push_back({to, wire});
    }
    for (std::size_t i = 0; i < mixing.from.size(); ++i) {
      receives.push_back({mixing.from[i].rank, received(wire, i, program)});
    }
    program.exchange(communicator_named(program.setup(), kNeighborCommunicator),
                     std::move(sends),
                     std::move(receives));
  }

  void finish(const Crossing& crossing, Program& program) const override {
    const Slice& wire = crossing.mine;
    const Mixing mixing = mixing_for(program);
    std::vector<Access> reads{{wire}};
    std::vector<double> weights{mixing.self};
    for (std::size_t i = 0; i < mixing.from.size(); ++i) {
      reads.push_back({received(wire, i, program)});
      weights.push_back(mixing.from[i].weight);
    }
    program.kernel("linear", std::move(reads), {{wire}}, std::move(weights));
  }

  Picoseconds time(const AlphaBeta& model, std::int64_t bytes) const override {
    const std::size_t degree =
        degree_of(topology_, model.world, local_ > 0 ? local_ : model.world);
    return static_cast<Picoseconds>(degree) *
           time_on(model.message, "messages", bytes);
  }

 private:
  static std::string inbox(std::size_t neighbor) {
    return fmt::format("neighbor{}", neighbor);
  }

  static Slice received(const Slice& wire,
                        std::size_t neighbor,
                        const Program& program) {
    return {
        buffer_named(program.setup(), inbox(neighbor)), wire.begin, wire.count};
  }

  Hosts hosts(const PlanInput& input) const {
    return hosts_of(input, input.world, local_, "neighbor-allreduce");
  }

  Mixing mixing_for(const Program& program) const {
    const PlanInput& input = program.input();
    return mixing_of(topology_,
                     input.world,
                     hosts(input).local,
                     input.rank,
                     program.phase());
  }

  std::string topology_;
  Rank local_;
};

}  // namespace

std::unique_ptr<ExchangeRule> make_neighbor_allreduce(const Options& options) {
  return std::make_unique<NeighborAllreduce>(
      options.text("topology"), static_cast<Rank>(options.count("local")));
}

}  // namespace paceline::strategies
