// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// Gradients cross; the optimizer applies their mean (synchronous SGD: every
/// rank takes the step that one rank would take on the whole batch).
class Gradients final : public UpdateRule {
 public:
  void start(const Bucket& bucket,
             const CodedExchange& transfer,
             Program& program) const override {
    transfer.start(bucket.gradients, program);
  }

  void finish(const Bucket& bucket,
              const CodedExchange& transfer,
              Program& program) const override {
    transfer.finish(bucket.gradients, program);
  }

  void apply(const Bucket& bucket,
             const CodedExchange& transfer,
             Program& program) const override {
    program.update(bucket, transfer.divisor(program.input()));
  }
};

}  // namespace

std::unique_ptr<UpdateRule> make_gradients(const Options&) {
  return std::make_unique<Gradients>();
}

}  // namespace paceline::strategies
