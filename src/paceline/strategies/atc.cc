// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/atc.h"

#include "paceline/strategies/rows.h"

namespace paceline::strategies {

void Atc::compute(const std::vector<Bucket>&,
                  const CodedExchange&,
                  Program& program) const {
  refuse_loss_scaling(name_, program.input());
  program.compute();
}

void Atc::start(const Bucket& bucket,
                const CodedExchange& transfer,
                Program& program) const {
  transfer.prepare(bucket.values, program);
  program.update(bucket, 1);
  transfer.start(bucket.values, program);
}

void Atc::finish(const Bucket& bucket,
                 const CodedExchange& transfer,
                 Program& program) const {
  transfer.finish(bucket.values, program);
  append_mean(bucket.values, transfer, program);
}

std::unique_ptr<UpdateRule> make_atc(const Options&) {
  return std::make_unique<Atc>();
}

}  // namespace paceline::strategies
