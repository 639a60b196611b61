// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/atc.h"

#include "paceline/strategies/rows.h"

namespace paceline::strategies {

void Atc::compute(StrategyProgram& program) const {
  refuse_loss_scaling(name_, program.input());
  program.compute();
}

void Atc::start(const Bucket& bucket, StrategyProgram& program) const {
  program.prepare_exchange(bucket.values);
  program.update(bucket, 1);
  program.start_exchange(bucket.values);
}

void Atc::finish(const Bucket& bucket, StrategyProgram& program) const {
  program.finish_exchange(bucket.values);
  program.append_mean(bucket.values);
}

std::unique_ptr<UpdateRule> make_atc(const Options&) {
  return std::make_unique<Atc>();
}

}  // namespace paceline::strategies
