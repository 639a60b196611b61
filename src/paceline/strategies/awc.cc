// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Adapt with combine: while a rank computes its gradient, the parameters at which it computes the
/// gradient are averaged.  Then the gradient is applied to the average: x_i <- sum over j of W_ij
/// x_j - lr * g(x_i).
///
/// window=step starts a bucket's exchange as soon as the bucket's update of the previous step is
/// done, in parallel with forward and backward.  window=backward delays it until the last forward,
/// as BlueFog does.  Nedic and Ozdaglar, IEEE TAC 2009, doi:10.1109/TAC.2008.2009515; BlueFog,
/// 2021, arXiv:2111.04287.
class AdaptWithCombine final : public UpdateRule {
 public:
  explicit AdaptWithCombine(bool whole_step) : whole_step_(whole_step) {}

  void compute(StrategyProgram& program) const override {
    if (whole_step_) {
      start_all(program);
      program.compute();
      return;
    }
    program.forward_pass(0);
    const OpIndex forward_end = program.size();
    start_all(program);
    for (OpIndex op = forward_end; program.trains() && op < program.size(); ++op) {
      program.after(op, forward_end - 1);
    }
    program.backward_pass(0);
    for (int micro = 1; micro < program.input().micro_batches; ++micro) {
      program.forward_pass(micro);
      program.backward_pass(micro);
    }
  }

  void start(const Bucket&, StrategyProgram&) const override {}

  void finish(const Bucket&, StrategyProgram&) const override {}

  /// Finishes the average in apply() and not in finish(): a schedule may call start() and finish()
  /// with parts that are smaller than the buckets for which compute() started the exchange.
  void apply(const Bucket& bucket, StrategyProgram& program) const override {
    for (const Bucket& mine : buckets_in(bucket, program)) {
      program.finish_average(mine.values);
    }
    program.update(bucket, 1);
  }

 private:
  static void start_all(StrategyProgram& program) {
    for (const Bucket& bucket : program.buckets()) {
      program.start_exchange(bucket.values);
    }
  }

  bool whole_step_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_awc(const Options& options) {
  return std::make_unique<AdaptWithCombine>(options.text("window") == "step");
}

}  // namespace paceline::strategies
