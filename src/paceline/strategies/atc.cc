// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/error.h"
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// Parameters cross, adapt then combine: every rank applies its own gradient
/// to a bucket, then the bucket is averaged, beside the rest of backward.
///
/// Lian et al., NeurIPS 2017, arXiv:1705.09056; Cattivelli and Sayed, IEEE TSP
/// 2010, doi:10.1109/TSP.2009.2033729 (ATC diffusion).
class Atc final : public UpdateRule {
 public:
  void compute(const std::vector<Bucket>&,
               const Transfer&,
               Program& program) const override {
    if (program.input().loss_scaling) {
      throw UsageError(
          "atc updates before the last gradient is known, so the loss cannot "
          "be scaled; take --dtype float32 or the update rule awc");
    }
    program.compute();
  }

  void start(const Bucket& bucket,
             const Transfer& transfer,
             Program& program) const override {
    program.update(bucket, 1);
    transfer.start(bucket.values, program);
  }

  void finish(const Bucket& bucket,
              const Transfer& transfer,
              Program& program) const override {
    transfer.finish(bucket.values, program);
    append_mean(bucket, transfer, program);
  }

  void apply(const Bucket&, const Transfer&, Program&) const override {}
};

}  // namespace

std::unique_ptr<UpdateRule> make_atc(const Options&) {
  return std::make_unique<Atc>();
}

}  // namespace paceline::strategies
