// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

/// Parameters cross, adapt with combine: while a rank computes its gradient,
/// the parameters that it was computed at are averaged; the gradient is then
/// applied to the average: x_i <- sum over j of W_ij x_j - lr * g(x_i).
///
/// window=step lets a bucket leave as soon as its update of the step before is
/// done, beside forward and backward; window=backward holds it until the last
/// forward, as BlueFog does.  Nedic and Ozdaglar, IEEE TAC 2009,
/// doi:10.1109/TAC.2008.2009515; BlueFog, 2021, arXiv:2111.04287.
class Awc final : public UpdateRule {
 public:
  explicit Awc(bool whole_step) : whole_step_(whole_step) {}

  void compute(const std::vector<Bucket>& buckets,
               const CodedExchange& transfer,
               Program& program) const override {
    if (whole_step_) {
      start_all(buckets, transfer, program);
      program.compute();
      return;
    }
    program.forward_pass(0);
    const OpIndex forward_end = program.size();
    start_all(buckets, transfer, program);
    for (OpIndex op = forward_end; program.trains() && op < program.size();
         ++op) {
      program.after(op, forward_end - 1);
    }
    program.backward_pass(0);
    for (int micro = 1; micro < program.input().micro_batches; ++micro) {
      program.forward_pass(micro);
      program.backward_pass(micro);
    }
  }

  void start(const Bucket&, const CodedExchange&, Program&) const override {}

  void finish(const Bucket&, const CodedExchange&, Program&) const override {}

  /// The average is made here, not in finish(): a schedule may cut what it
  /// gives and takes finer than what compute() gave.
  void apply(const Bucket& bucket,
             const CodedExchange& transfer,
             Program& program) const override {
    for (const Bucket& mine : buckets_in(bucket, program)) {
      transfer.finish(mine.values, program);
      append_mean(mine.values, transfer, program);
    }
    program.update(bucket, 1);
  }

 private:
  static void start_all(const std::vector<Bucket>& buckets,
                        const CodedExchange& transfer,
                        Program& program) {
    for (const Bucket& bucket : buckets) {
      transfer.start(bucket.values, program);
    }
  }

  bool whole_step_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_awc(const Options& options) {
  return std::make_unique<Awc>(options.text("window") == "step");
}

}  // namespace paceline::strategies
