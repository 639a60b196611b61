// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/early_update.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

constexpr std::string_view kAdaptedBuffer = "adapted";

/// Adapt-then-combine with a correction that removes its bias.  With psi_i the adapted parameters
/// of the previous step, which start as the parameters themselves,
///   psi_i' = x_i - lr * opt(g(x_i))
///   phi_i  = psi_i' + x_i - psi_i
///   x_i   <- sum over j of V_ij phi_j   with V = (I + W) / 2
///   psi_i <- psi_i'
///
///   rounds per step            1 exchange
///   bytes sent, rank and step  the bytes of exchanging S = model size
///   extra memory, rank         S and the memory of the exchange
///   guarantee                  consensus: ranks agree in the limit only, on a
///                              minimum of the mean loss, even if the ranks'
///                              losses differ and the rate is fixed
///
/// W must be symmetric and the same in every step.  Yuan, Ying, Zhao and Sayed, IEEE TSP 2019,
/// arXiv:1702.05122, Algorithm 1.
class ExactDiffusion final : public EarlyUpdate {
 public:
  ExactDiffusion() : EarlyUpdate("exact-diffusion") {}

  void extend_setup(const ExchangeRule& exchange, SetupBuilder& builder) const override {
    const PlanInput& input = builder.input();
    if (input.world > 1) {
      check_weights(input, exchange);
    }
    builder.add_buffer_like_values(kAdaptedBuffer, InitialValue::kParameters);
  }

  /// The memory of the gradients is free once they are applied; it then holds psi', and later phi.
  void start(const Bucket& bucket, StrategyProgram& program) const override {
    const Slice adapted = same_range_in(kAdaptedBuffer, bucket.values, program);
    program.kernel("linear", {{bucket.values}, {adapted}}, {{adapted}}, {1, -1});
    program.update(bucket, 1);
    program.kernel("copy", {{bucket.values}}, {{bucket.gradients}}, {1});
    program.kernel("linear", {{bucket.values}, {adapted}}, {{bucket.values}}, {1, 1});
    program.kernel("copy", {{bucket.gradients}, {bucket.values}}, {{adapted}, {bucket.gradients}},
                   {1});
    program.start_exchange(bucket.values);
  }

  void finish(const Bucket& bucket, StrategyProgram& program) const override {
    program.finish_average(bucket.values);
    program.kernel("linear", {{bucket.values}, {bucket.gradients}}, {{bucket.values}}, {0.5, 0.5});
  }

 private:
  static void check_weights(const PlanInput& input, const ExchangeRule& exchange) {
    const Step period = exchange.traits(input).period;
    const std::string uneven =
        period == 1 ? exchange.asymmetry_text(input)
                    : fmt::format("those of this topology repeat after {} steps", period);
    if (!uneven.empty()) {
      throw UsageError(
          fmt::format("exact-diffusion needs weights that are symmetric and the same in every "
                      "step, and {}; take topology=ring, or the update rule gradient-tracking",
                      uneven));
    }
  }
};

}  // namespace

std::unique_ptr<UpdateRule> make_exact_diffusion(const Options&) {
  return std::make_unique<ExactDiffusion>();
}

}  // namespace paceline::strategies
