// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "paceline/strategies/atc.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

class Options;  // strategies/strategy.h

/// The largest `every=`.
inline constexpr Step kLongestInterval = 500;

/// The buffer of a rule that compares what an interval has changed: the
/// parameters at its start.
inline constexpr std::string_view kAnchor = "anchor";

/// The option `every` of a rule: from 1 to kLongestInterval.  Throws UsageError
/// that names `rule`.
Step interval_of(const Options& options, std::string_view rule);

/// Whether step `step` ends an interval of `every` steps: the last of them
/// does.
constexpr bool ends_interval(Step step, Step every) {
  return (step + 1) % every == 0;
}

/// Every rank trains alone, and parameters cross at the end of every
/// `every`-th step: program.turn() is 1 in that one, 0 in the others.
class LocalSteps : public Atc {
 public:
  LocalSteps(std::string_view name, Step every) : Atc(name), every_(every) {}

  Variant variants() const override { return 2; }
  Variant variant(Step step) const override {
    return ends_interval(step, every_) ? 1 : 0;
  }
  Step interval() const override { return every_; }
  Step exchange_in(Step step) const override {
    return ends_interval(step, every_) ? step / every_ : 0;
  }

  void start(const Bucket& bucket, StrategyProgram& program) const override;
  void finish(const Bucket& bucket, StrategyProgram& program) const override;

 private:
  Step every_;
};

}  // namespace paceline::strategies
