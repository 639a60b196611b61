// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/plan/program.h"

// The four parts of which most strategies are composed.  No part knows
// another: a schedule says when and in which units, an exchange with whom, a
// codec in which form, an update rule what crosses and how it is applied.
// Each lives in one file, plan/<name>.cc, and has one row in
// plan/strategy_table.cc.

namespace paceline::plan {

/// In which form a slice crosses.
class CodecRule {
 public:
  virtual ~CodecRule() = default;

  /// Adds the buffers that the codec needs.
  virtual void extend(const PlanInput& input, Frame& frame) const = 0;

  /// Appends what makes the wire form of `slice`; returns where it lies.
  virtual Slice encode(const Slice& slice, Program& program) const = 0;

  /// Appends what brings the exchanged wire form back into `slice`.
  virtual void decode(const Slice& slice, Program& program) const = 0;
};

/// With whom a slice is exchanged, in two halves that a schedule may part.
class ExchangeRule {
 public:
  virtual ~ExchangeRule() = default;

  /// Adds communicators and buffers that the exchange needs.
  virtual void extend(const PlanInput& input, Frame& frame) const = 0;

  /// Into how many pieces a unit is cut; units are padded to a multiple.
  virtual Rank shards(const PlanInput& input) const = 0;

  /// Appends the half that hands this rank's values out.
  virtual void give(const Slice& slice,
                    const CodecRule& codec,
                    Program& program) const = 0;

  /// Appends the half after which `slice` holds the sum over the ranks, or
  /// over those whose number `divisor` says.
  virtual void take(const Slice& slice,
                    const CodecRule& codec,
                    Program& program) const = 0;

  /// By what the taken values must be divided to be the mean.
  virtual double divisor(const PlanInput& input) const = 0;

  /// As Planner::stand_in.
  virtual Rank stand_in(const PlanInput& input) const = 0;
};

/// An exchange and the form in which it carries values.
struct Crossing {
  const ExchangeRule& exchange;
  const CodecRule& codec;
};

/// What crosses, and what is done with it.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  virtual void give(const Unit& unit,
                    const Crossing& crossing,
                    Program& program) const = 0;
  virtual void take(const Unit& unit,
                    const Crossing& crossing,
                    Program& program) const = 0;

  /// Appends the local rest, once the unit is taken.  A schedule may apply
  /// several units, or all, as one.
  virtual void apply(const Unit& unit,
                     const Crossing& crossing,
                     Program& program) const = 0;
};

/// What a schedule writes with: the program, and the other three rules behind
/// three verbs.
class Score {
 public:
  Score(Program& program, const UpdateRule& update, const Crossing& crossing)
      : program_(program), update_(update), crossing_(crossing) {}

  void compute() { program_.compute(); }
  void give(const Unit& unit) { update_.give(unit, crossing_, program_); }
  void take(const Unit& unit) { update_.take(unit, crossing_, program_); }
  /// With loss scaling the units wait for finish(), in this order: whether
  /// they are applied depends on the gradients of all.
  void apply(const Unit& unit);

  /// What is left to write when the schedule has ended.
  void finish();

  Program& program() { return program_; }

 private:
  Program& program_;
  const UpdateRule& update_;
  Crossing crossing_;
  std::vector<Unit> waiting_;  // to be applied
};

/// When units cross, how large they are, in which order.
class ScheduleRule {
 public:
  virtual ~ScheduleRule() = default;

  /// The units, as runs of the ready order.
  virtual Groups groups(const PlanInput& input) const = 0;

  virtual void write(const std::vector<Unit>& units, Score& score) const = 0;
};

/// One group of everything, in ready order.
inline Groups one_group(const ModelShape& model) {
  return {model.ready_order};
}

/// The unit that covers all of `units`, which follow each other.
Unit join(const std::vector<Unit>& units);

}  // namespace paceline::plan
