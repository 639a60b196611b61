// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/program.h"
#include "paceline/strategies/merge.h"

// The four parts of which most strategies are composed.  No part knows
// another: a schedule says when and in which units, an exchange with whom, a
// codec in which form, an update rule what crosses and how it is applied.
// Each lives in one file, plan/<name>.cc, and has one row in
// strategies/strategy_table.cc.

namespace paceline::strategies {

using namespace plan;

/// In which form a slice crosses.
class CodecRule {
 public:
  virtual ~CodecRule() = default;

  /// Adds the buffers that the codec needs.
  virtual void extend(const PlanInput& input, Frame& frame) const = 0;

  /// The type of what crosses.
  virtual DType wire_type(const PlanInput& input) const = 0;

  /// Where the wire form of `slice` lies: as many elements.
  virtual Slice wire(const Slice& slice, const Setup& setup) const = 0;

  /// Appends what makes the wire form of `slice`.
  virtual void encode(const Slice& slice, Program& program) const = 0;

  /// Appends what brings the exchanged wire form back into `slice`.
  virtual void decode(const Slice& slice, Program& program) const = 0;
};

/// What an exchange says of itself, seen from one rank.
struct Terms {
  Rank shards = 1;      // pieces of a unit, which is padded to a multiple
  double divisor = 1;   // what is taken, divided by this, is the mean
  bool trains = true;   // else the rank has no model work: it serves
  Symmetry symmetry{};  // as Planner::symmetry
  Step period = 1;      // after how many steps its programs repeat
};

/// With whom a slice is exchanged, in two halves that a schedule may part.
class ExchangeRule {
 public:
  virtual ~ExchangeRule() = default;

  /// Throws UsageError for worlds in which the exchange does not exist.
  virtual Terms terms(const PlanInput& input) const = 0;

  /// Adds communicators and buffers that the exchange needs for `units`,
  /// whose wire form has type `wire`.
  virtual void extend(const PlanInput& input,
                      const std::vector<Unit>& units,
                      DType wire,
                      Frame& frame) const = 0;

  /// Appends the half that hands this rank's values out.
  virtual void give(const Slice& slice,
                    const CodecRule& codec,
                    Program& program) const = 0;

  /// Appends the half after which `slice` holds the sum over the ranks, or
  /// over those whose number Terms::divisor says.
  virtual void take(const Slice& slice,
                    const CodecRule& codec,
                    Program& program) const = 0;

  /// How long both halves take for a payload of `bytes`, alone on the network.
  /// Throws UsageError where the model lacks what that needs.
  virtual Picoseconds time(const AlphaBeta& model,
                           std::int64_t bytes) const = 0;
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

  /// After how many steps its programs repeat; program.phase() counts them.
  virtual Step period() const { return 1; }

  /// Appends the model work, and what crosses before or beside it.
  virtual void compute(const std::vector<Unit>& units,
                       const Crossing& crossing,
                       Program& program) const = 0;

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
/// four verbs.  Priorities are those of Op: smaller goes first.
class Score {
 public:
  Score(Program& program, const UpdateRule& update, const Crossing& crossing)
      : program_(program), update_(update), crossing_(crossing) {}

  void compute() { update_.compute(program_.units(), crossing_, program_); }
  void give(const Unit& unit, std::int32_t priority = 0);
  void take(const Unit& unit, std::int32_t priority = 0);
  /// With loss scaling the units wait for finish(), in this order: whether
  /// they are applied depends on the gradients of all.
  void apply(const Unit& unit, std::int32_t priority = 0);

  /// Each unit is given, taken and applied by itself.
  void synchronize(const std::vector<Unit>& units);

  /// What is left to write when the schedule has ended.
  void finish();

  const Program& program() const { return program_; }

  /// How long slices take to cross; it throws UsageError where the plan was
  /// given no alpha-beta model.
  CrossingTime crossing_time() const;

 private:
  struct Waiting {
    Unit unit;
    std::int32_t priority = 0;
  };

  Program& program_;
  const UpdateRule& update_;
  Crossing crossing_;
  std::vector<Waiting> waiting_;  // to be applied
};

/// In which order a schedule's communicators issue, and how much at a time.
struct Discipline {
  Order order = Order::kProgram;
  std::int64_t credit_bytes = std::numeric_limits<std::int64_t>::max();
};

/// Appends what makes the mean of values that an exchange has summed.
void take_mean(const Unit& unit, const Crossing& crossing, Program& program);

/// When units cross, how large they are, in which order.
class ScheduleRule {
 public:
  virtual ~ScheduleRule() = default;

  /// It decides by the profile and the alpha-beta model of its input.
  virtual bool needs_times() const { return false; }

  virtual Discipline discipline() const { return {}; }

  /// The units, as runs of the ready order.
  virtual Groups groups(const PlanInput& input,
                        const CrossingTime& time) const = 0;

  virtual void write(const std::vector<Unit>& units, Score& score) const = 0;

  /// As Planner::remark.
  virtual std::string remark(const PlanInput& /*input*/,
                             const CrossingTime& /*time*/) const {
    return {};
  }
};

/// One group of everything, in ready order.
inline Groups one_group(const ModelShape& model) {
  return {model.ready_order};
}

/// One group per parameter, in ready order.
Groups single_groups(const ModelShape& model);

/// One group of each run of neighbors in ready order that one module reads
/// first.
Groups module_groups(const ModelShape& model);

/// The unit that covers all of `units`, which follow each other.
Unit join(const std::vector<Unit>& units);

/// Units in the order in which the next forward reads them first, each with
/// the number of that module.
struct FirstRead {
  std::size_t unit = 0;
  std::int32_t module = 0;
};
std::vector<FirstRead> by_first_read(const ModelShape& model,
                                     const std::vector<Unit>& units);

}  // namespace paceline::strategies
