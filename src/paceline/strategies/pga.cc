// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/early_update.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

constexpr const char* kGlobalCommunicator = "global";

/// Adapt-then-combine with neighbors.  At the end of every H-th step, the mean over all ranks
/// replaces the average with neighbors: with y_i = x_i - lr * opt(g(x_i)),
///   x_i <- sum over j of W_ij y_j   in H - 1 of H steps
///   x_i <- 1/P sum over j of y_j    in the H-th
///
///   rounds per step            as the exchange; 1 in the H-th step
///   bytes sent, rank and step  as the exchange; 2(P-1)/P S in the H-th step
///   extra memory, rank         the memory of the exchange
///   guarantee                  ranks are equal after every H-th step
///
/// Chen et al. (Gossip-PGA), ICML 2021, arXiv:2105.09080, Algorithm 1.
class PeriodicGlobalAveraging final : public PeriodicRule {
 public:
  explicit PeriodicGlobalAveraging(const Options& options) : PeriodicRule("pga", options) {}

  /// Ranks exchange in every step, so the exchange number is that of the step.
  Step exchange_number_in(Step step) const override { return step; }

  void extend_setup(const ExchangeRule&, SetupBuilder& builder) const override {
    if (builder.input().world > 1) {
      builder.add_world_communicator(kGlobalCommunicator);
    }
  }

  void finish(const Bucket& bucket, StrategyProgram& program) const override {
    if (averages_all(program)) {
      program.kernel("copy", {{bucket.values}}, {{bucket.values}},
                     {1 / static_cast<double>(program.input().world)});
    } else {
      program.finish_average(bucket.values);
    }
  }

 private:
  void send(const Bucket& bucket, StrategyProgram& program) const override {
    if (averages_all(program)) {
      program.all_reduce(bucket.values, communicator_named(program.setup(), kGlobalCommunicator));
    } else {
      program.start_exchange(bucket.values);
    }
  }

  static bool averages_all(const Program& program) {
    return program.turn() == 1 && program.input().world > 1;
  }
};

}  // namespace

std::unique_ptr<UpdateRule> make_pga(const Options& options) {
  return std::make_unique<PeriodicGlobalAveraging>(options);
}

}  // namespace paceline::strategies
