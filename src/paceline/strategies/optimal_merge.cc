// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/cut_rule.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Neighbors in ready order are merged so that the predicted step (by a profile and an alpha-beta
/// model) is the shortest of all cuts of the ready order into buckets.  A module's next forward
/// waits only for its own buckets.
///
///   rounds per step            one exchange per bucket, all independent
///   bytes sent, rank and step  the bytes of exchanging S = model size
///   extra memory, rank         none besides that of the exchange
///   guarantee                  the guarantee of its exchange
///
/// The model is that of Shi et al., INFOCOM 2019, arXiv:1811.11141: buckets are transferred one
/// after the other, each when its last gradient is ready.  Their objective is the earliest end of
/// communication within a step.  The objective here is the shortest step, whose communication may
/// extend into the next step; between equal steps an earlier end decides.  If the engine performs
/// several exchanges at once, strategies/merge_search.cc finds the cuts.
class OptimalMerge final : public CutRule {
 private:
  PredictedCut cut(const PlanInput& input, const TransferTime& time) const override {
    return best_step(step_timings_of(input, "optimal-merge"), time);
  }
};

}  // namespace

std::unique_ptr<ScheduleRule> make_optimal_merge(const Options&) {
  return std::make_unique<OptimalMerge>();
}

}  // namespace paceline::strategies
