// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "paceline/strategies/rules.h"

namespace paceline::strategies {

class Options;  // strategies/strategy.h

/// An update rule that updates a bucket before the last gradient is final.  It therefore rejects a
/// scaled loss.
class EarlyUpdate : public UpdateRule {
 public:
  /// Where gradients are clipped if clipping is on: kByUpdate clips them in the update; kInPlace
  /// clips all of them in memory after the model work, for a rule that changes the gradients before
  /// it applies them.
  enum class Clipping : std::uint8_t { kByUpdate, kInPlace };

  explicit EarlyUpdate(std::string_view name, Clipping clipping = Clipping::kByUpdate)
      : name_(name), clipping_(clipping) {}

  void compute(StrategyProgram& program) const override;

 private:
  std::string_view name_;
  Clipping clipping_;
};

/// The buffer that holds the parameters as they were at the start of the interval.
inline constexpr std::string_view kAnchor = "anchor";

/// A rule under which every rank applies its own gradients in every step, and ranks exchange only
/// in the last step of each interval of `every` steps, in which program.turn() is 1. A derived rule
/// overrides send(), finish() and apply() to say what is exchanged and how it is used; this class
/// averages the parameters.
class PeriodicRule : public EarlyUpdate {
 public:
  /// Reads the option `every`.  Throws UsageError that names the rule unless it is from 1 to
  /// kLongestInterval.
  PeriodicRule(std::string_view name, const Options& options);

  static constexpr Step kLongestInterval = 500;

  Variant variants() const override { return 2; }
  Variant variant(Step step) const override { return ends_interval(step) ? 1 : 0; }
  Step interval() const override { return every_; }
  Step exchange_number_in(Step step) const override {
    return ends_interval(step) ? step / every_ : 0;
  }

  void start(const Bucket& bucket, StrategyProgram& program) const final {
    program.update(bucket, 1);
    send(bucket, program);
  }
  void finish(const Bucket& bucket, StrategyProgram& program) const override;

 protected:
  /// Appends the first half of the bucket's exchange, if the bucket is exchanged in this step.
  virtual void send(const Bucket& bucket, StrategyProgram& program) const;

 private:
  bool ends_interval(Step step) const { return (step + 1) % every_ == 0; }

  Step every_;
};

}  // namespace paceline::strategies
