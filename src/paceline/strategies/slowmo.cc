// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/early_update.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

constexpr std::string_view kSlowMomentum = "slow_momentum";

/// Local SGD whose averages are followed by a step of slow momentum.  With the anchor a and the
/// slow momentum u, which are equal on all ranks, and the learning rate lr,
///   x_i <- 1/P sum over j of x_j, at the end of every H-th step, then
///   u   <- beta u + (a - x_i) / lr
///   a   <- a - alpha lr u
///   x_i <- a
///
///   rounds per step            1/H exchange
///   bytes sent, rank and step  1/H of exchanging S = model size
///   extra memory, rank         2 S
///   guarantee                  ranks are equal after every H-th step
///
/// With alpha = 1 and beta = 0 this is local SGD; lr must be above 0.  Wang et al., ICLR 2020,
/// arXiv:1910.00643, Algorithm 1, with local steps of SGD in between.
class SlowMo final : public PeriodicRule {
 public:
  explicit SlowMo(const Options& options)
      : PeriodicRule("slowmo", options),
        rate_(options.number("slow-lr")),
        momentum_(options.number("slow-momentum")) {}

  bool divides_by_rate() const override { return true; }

  void extend_setup(const ExchangeRule&, SetupBuilder& builder) const override {
    builder.add_buffer_like_values(kAnchor, InitialValue::kParameters);
    builder.add_buffer_like_values(kSlowMomentum);
  }

  void apply(const Bucket& bucket, StrategyProgram& program) const override {
    if (program.turn() != 1 || !program.trains()) {
      return;
    }
    const auto twin = [&](std::string_view name) {
      return Access{same_range_in(name, bucket.values, program)};
    };
    const Access rate{whole(program.setup(), kLearningRate)};
    program.kernel("slow_momentum", {twin(kAnchor), twin(kSlowMomentum), {bucket.values}, rate},
                   {twin(kAnchor), twin(kSlowMomentum)}, {rate_, momentum_});
    program.kernel("copy", {twin(kAnchor)}, {{bucket.values}}, {1});
  }

 private:
  double rate_, momentum_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_slowmo(const Options& options) {
  return std::make_unique<SlowMo>(options);
}

}  // namespace paceline::strategies
