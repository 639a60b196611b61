// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// The gradients are exchanged, and the optimizer applies their mean (synchronous SGD: every rank
/// takes the step that one rank would take on the whole batch).
class Gradients final : public UpdateRule {
 public:
  void start(const Bucket& bucket, StrategyProgram& program) const override {
    program.start_exchange(bucket.gradients);
  }

  void finish(const Bucket& bucket, StrategyProgram& program) const override {
    program.finish_exchange(bucket.gradients);
  }

  void apply(const Bucket& bucket, StrategyProgram& program) const override {
    program.update(bucket, program.divisor());
  }
};

}  // namespace

std::unique_ptr<UpdateRule> make_gradients(const Options&) { return std::make_unique<Gradients>(); }

}  // namespace paceline::strategies
