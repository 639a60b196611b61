// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/early_update.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// Adapt then combine: every rank applies its own gradient to a bucket, and then the bucket's
/// parameters are averaged, in parallel with the rest of backward.
///
/// Lian et al., NeurIPS 2017, arXiv:1705.09056; Cattivelli and Sayed, IEEE TSP 2010,
/// doi:10.1109/TSP.2009.2033729 (ATC diffusion).
class AdaptThenCombine final : public EarlyUpdate {
 public:
  AdaptThenCombine() : EarlyUpdate("atc") {}

  void start(const Bucket& bucket, StrategyProgram& program) const override {
    program.prepare_exchange(bucket.values);
    program.update(bucket, 1);
    program.start_exchange(bucket.values);
  }

  void finish(const Bucket& bucket, StrategyProgram& program) const override {
    program.finish_average(bucket.values);
  }
};

}  // namespace

std::unique_ptr<UpdateRule> make_atc(const Options&) {
  return std::make_unique<AdaptThenCombine>();
}

}  // namespace paceline::strategies
