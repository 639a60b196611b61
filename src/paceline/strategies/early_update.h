// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "paceline/strategies/rules.h"

namespace paceline::strategies {

class Options;  // strategies/strategy.h

/// A rule that updates a bucket before the last gradient is known, so that it rejects a scaled
/// loss.
class EarlyUpdate : public UpdateRule {
 public:
  /// How gradients are clipped, where they are: by the update, or all at once in place behind the
  /// model work, for a rule that makes something else of the gradients before it applies them.
  enum class Clipping : std::uint8_t { kByUpdate, kInPlace };

  explicit EarlyUpdate(std::string_view name, Clipping clipping = Clipping::kByUpdate)
      : name_(name), clipping_(clipping) {}

  void compute(StrategyProgram& program) const override;

 private:
  std::string_view name_;
  Clipping clipping_;
};

/// The buffer of a rule that compares what an interval has changed: the parameters at its start.
inline constexpr std::string_view kAnchor = "anchor";

/// Every rank applies its own gradients in every step; in the last step of an interval of `every`
/// steps, in which program.turn() is 1, the ranks exchange. A rule says by send(), finish() and
/// apply() what is exchanged and what becomes of it; here parameters are averaged.
class PeriodicRule : public EarlyUpdate {
 public:
  /// Reads the option `every`, from 1 to kLongestInterval.  Throws UsageError that names the rule.
  PeriodicRule(std::string_view name, const Options& options);

  static constexpr Step kLongestInterval = 500;

  Variant variants() const override { return 2; }
  Variant variant(Step step) const override { return ends(step) ? 1 : 0; }
  Step interval() const override { return every_; }
  Step exchange_in(Step step) const override { return ends(step) ? step / every_ : 0; }

  void start(const Bucket& bucket, StrategyProgram& program) const final {
    program.update(bucket, 1);
    send(bucket, program);
  }
  void finish(const Bucket& bucket, StrategyProgram& program) const override;

 protected:
  /// Appends the first half of the step's exchange of the bucket, if it has one.
  virtual void send(const Bucket& bucket, StrategyProgram& program) const;

 private:
  bool ends(Step step) const { return (step + 1) % every_ == 0; }

  Step every_;
};

}  // namespace paceline::strategies
