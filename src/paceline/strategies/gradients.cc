// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rows.h"

namespace paceline::strategies {
namespace {

/// Gradients cross; the optimizer applies their mean (synchronous SGD: every
/// rank takes the step that one rank would take on the whole batch).
class Gradients final : public UpdateRule {
 public:
  void compute(const std::vector<Unit>&,
               const Crossing&,
               Program& program) const override {
    program.compute();
  }

  void give(const Unit& unit,
            const Crossing& crossing,
            Program& program) const override {
    crossing.exchange.give(unit.gradients, crossing.codec, program);
  }

  void take(const Unit& unit,
            const Crossing& crossing,
            Program& program) const override {
    crossing.exchange.take(unit.gradients, crossing.codec, program);
  }

  void apply(const Unit& unit,
             const Crossing& crossing,
             Program& program) const override {
    program.update(unit, crossing.exchange.terms(program.input()).divisor);
  }
};

}  // namespace

std::unique_ptr<UpdateRule> make_gradients(const Options&) {
  return std::make_unique<Gradients>();
}

}  // namespace paceline::strategies
