// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/plan/program.h"
#include "paceline/strategies/contraction.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/transfer_time.h"

// The four parts of which most strategies are composed.  No part knows
// another: a schedule says when and in which buckets, an exchange with whom, a codec in which form,
// an update rule what is exchanged and how it is applied. Each lives in one file,
// strategies/<name>.cc, and has one row in the table of its axis, strategies/<axis>_table.cc.

namespace paceline::strategies {

/// How the wire forms of several ranks become the one that decode() reads.
enum class Combination : std::uint8_t {
  kSum,     // their sum, element by element; sums of sums and weights are allowed
  kOwnSum,  // their sum, of forms whose length is their own: nobody cuts them
  kMerge,   // a kernel that takes all of them at once, element by element
  kGather,  // decode() reads them side by side
  kPairs    // two ranks swap theirs, and the codec merges them
};

/// What the wire forms of a codec have in common.
struct WireFormat {
  DType type = DType::kF32;  // kMerge, kSum: of the elements that cross
  Elements packed = 1;       // values that one of these elements stands for
  Combination combination = Combination::kSum;
  std::string_view merge{};  // kMerge: the kernel, reads copies, writes one
  bool summed = true;        // decode() gives the sum over the ranks, not the result
};

/// A slice that crosses.
struct WireSlice {
  WireFormat format;
  Slice of;        // what it is the wire form of, or part of
  Slice mine;      // this rank's; with kSum and kMerge also what comes back
  Slice all{};     // kGather: those of all ranks, in their order; kPairs: the
                   // other rank's
  Rank peer = -1;  // kPairs: that rank
  /// Where an exchange of shards leaves this rank's, if not in `mine`.
  std::optional<Slice> kept{};
};

/// The form in which a slice is sent.
///
/// In each of its rounds a codec computes slices of this rank, these cross,
/// and the next round, or decode(), starts from what came back.  They may have other lengths and
/// element types than the values.
class CodecRule {
 public:
  virtual ~CodecRule() = default;

  /// Depends on nothing of the input but its element type.
  virtual WireFormat format(const PlanInput& input) const = 0;

  /// Adds the buffers that the codec needs for `builder.buckets()`.  Throws UsageError where the
  /// training is one that its mathematics forbids.
  virtual void extend(const PlanInput& input, SetupBuilder& builder) const = 0;

  virtual int rounds(const PlanInput& /*input*/) const { return 1; }

  /// What crosses of `slice` in a round, on ranks that compute and on ranks that serve: a bucket or
  /// a part of one.
  virtual std::vector<WireSlice> wire_slices(const Slice& slice, int round,
                                             const Program& program) const = 0;

  /// Appends what computes these from `slice` and from what the rounds before brought back.
  virtual void encode(const Slice& slice, int round, Program& program) const = 0;

  /// Appends what brings the last round's result back into `slice`.
  virtual void decode(const Slice& slice, Program& program) const;

  /// kGather: adds the buffers of WireSlice::all, which is else left out.
  virtual void add_gathered(SetupBuilder& /*builder*/) const {}

  /// What is known of one rank's form, of changes of a model's parameters that the codec has not
  /// seen before; none, for any model, where it is no image of its values.
  virtual std::optional<Contraction> contraction(const ModelShape& /*model*/) const {
    return std::nullopt;
  }

  /// Appends what makes the codec's memory of `slice` that of the first step.
  virtual void forget(const Slice& slice, Program& program) const;

  /// Appends what turns `forms`, one for each wire slice of the rounds, into values: the sum over
  /// the ranks whose forms they hold.  Codecs that have a contraction() have it; their rounds then
  /// follow each other with nothing that crosses between them.
  virtual void decode_from(const std::vector<Slice>& forms, const Slice& slice,
                           Program& program) const;
};

/// Properties of an exchange, seen from one rank.
struct ExchangeTraits {
  Rank shards = 1;     // pieces of a bucket, which is padded to a multiple
  double divisor = 1;  // the result, divided by this, is the mean
  /// Ranks 0 .. n-1 have model work, the others serve; all, if there are fewer.
  Rank training_ranks = std::numeric_limits<Rank>::max();
  Symmetry symmetry{};  // as Planner::symmetry
  Step period = 1;      // after how many steps its programs repeat
  Rank hosts = 0;       // whose ranks sum among themselves first; 0: nobody does
  /// The shard that start() leaves on this rank, summed over all ranks, and that finish() sends to
  /// the others; empty where an exchange leaves no shard.
  std::optional<Rank> own_shard{};
};

/// With whom a slice is exchanged, in two halves: start and finish.  A schedule may place other ops
/// between them.
class ExchangeRule {
 public:
  virtual ~ExchangeRule() = default;

  /// Throws UsageError for worlds in which the exchange does not exist.
  virtual ExchangeTraits traits(const PlanInput& input) const = 0;

  /// Whether it exchanges shares of a slice, whatever tensors lie in them.
  virtual bool cuts() const { return false; }

  /// What asymmetry_of() says of the graph over which the exchange averages. Empty: the graph is
  /// symmetric, or the exchange does not look.
  virtual std::string asymmetry(const PlanInput& /*input*/) const { return {}; }

  /// Whether it can combine wire forms so.  A sum is taken by every exchange; for the others the
  /// forms of all ranks must meet.
  virtual bool combines(Combination how) const { return how == Combination::kSum; }

  /// Adds communicators and buffers that the exchange needs for
  /// `builder.buckets()` in this format.
  virtual void extend(const WireFormat& format, SetupBuilder& builder) const = 0;

  /// Appends what turns values into those that start() may be given; the
  /// update rule calls it before it changes them.  Only exchanges whose rows say `prepared` need
  /// it.
  virtual void prepare(const Slice& /*values*/, Program& /*program*/) const {}

  /// Appends the half that sends this rank's part.  Only worlds of several ranks exchange.
  virtual void start(const WireSlice& wire_slice, Program& program) const = 0;

  /// Appends the half after which WireSlice::mine holds what the ranks have combined, those whose
  /// number ExchangeTraits::divisor says, or WireSlice::all holds theirs.
  virtual void finish(const WireSlice& wire_slice, Program& program) const = 0;

  /// How long both halves take for a payload of `bytes`, alone on the network.
  /// `input.alpha_beta` is given.  Throws UsageError where it lacks what that
  /// needs.  Here an all-reduce, which also stands for the collectives of hosts: a model of one
  /// world knows no other groups.
  virtual Picoseconds time(const PlanInput& input, std::int64_t bytes) const {
    return input.alpha_beta->time(Pattern::kAllReduce, bytes);
  }

  /// How long both halves take for wire forms of `bytes` a rank that are combined as `how` says.
  virtual Picoseconds time_of_forms(const PlanInput& input, std::int64_t bytes,
                                    Combination /*how*/) const {
    return time(input, bytes);
  }

  /// The codec in whose forms it sends what it is given; none: as it is.
  virtual const CodecRule* codec() const { return nullptr; }
};

/// An exchange and the codec of what it carries.  A world of one rank exchanges nothing, so it
/// encodes nothing either.
struct CodedExchange {
  const ExchangeRule& exchange;
  const CodecRule& codec;
};

/// A rank's program with the exchange for which it is written.
class StrategyProgram : public Program {
 public:
  StrategyProgram(const PlanInput& input, const Setup& setup, ProgramContext context,
                  const CodedExchange& transfer)
      : Program(input, setup, std::move(context)), transfer_(transfer) {}

  const CodedExchange& transfer() const { return transfer_; }
  ExchangeTraits exchange_traits() const { return transfer_.exchange.traits(input()); }

  /// As ExchangeRule::prepare.
  void prepare_exchange(const Slice& values);

  /// Appends all rounds up to the half of the last one that sends.
  void start_exchange(const Slice& slice);

  /// Appends the rest: `slice` holds the result.
  void finish_exchange(const Slice& slice);

  /// The result, divided by this, is what the ranks agree on: their mean, or what the codec makes
  /// of them.
  double divisor() const;

  /// Appends the same, and the kernel that makes the mean of a sum.
  void finish_average(const Slice& slice);

 private:
  CodedExchange transfer_;
};

/// What is exchanged, gradients or parameters, and how it is applied.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  /// How many programs it has for one step of the exchange, and which of these, from 0 on, step
  /// `step` runs: program.turn().
  virtual Variant variants() const { return 1; }
  virtual Variant variant(Step /*step*/) const { return 0; }

  /// The number of the exchange in step `step`, from 0 on; 0 in a step without one.  A graph of
  /// several steps goes on by exchanges.
  virtual Step exchange_in(Step step) const { return step; }

  /// After so many steps variant() repeats, and exchange_in() has gone on.
  virtual Step interval() const { return 1; }

  /// As Planner::symmetry, of an exchange with these traits: its symmetry, or what of it leaves
  /// each rank the same work.
  virtual Symmetry symmetry(const ExchangeTraits& exchange) const { return exchange.symmetry; }

  /// Adds buffers and communicators of its own.  Throws UsageError where its mathematics forbids
  /// the training or the exchange.
  virtual void extend(const ExchangeRule& /*exchange*/, SetupBuilder& /*builder*/) const {}

  /// Appends the model work, and what is exchanged before or beside it: here nothing.
  virtual void compute(StrategyProgram& program) const { program.compute(); }

  virtual void start(const Bucket& bucket, StrategyProgram& program) const = 0;
  virtual void finish(const Bucket& bucket, StrategyProgram& program) const = 0;

  /// Whether it divides by the learning rate, which then is above 0.
  virtual bool divides_by_rate() const { return false; }

  /// Whether finish() updates the parameters, which others do in start() or apply().  Where
  /// gradients are clipped, such a finish() waits for all.
  virtual bool updates_in_finish() const { return false; }

  /// Where gradients are clipped: comes before the updates that have waited, with all that finish()
  /// will be given; a rule whose ranks hold shards of the gradients calls Program::clip.
  virtual void clip(const std::vector<Bucket>& /*finishing*/, StrategyProgram& /*program*/) const {}

  /// Appends what is local, after the bucket's exchange has finished.  A schedule may apply several
  /// buckets, or all, as one.  Here nothing.
  virtual void apply(const Bucket& /*bucket*/, StrategyProgram& /*program*/) const {}
};

/// Appends the parts of a plan that a schedule arranges: the start and the finish of a bucket's
/// exchange, and its update.  Priorities are those of Op: smaller goes first.
class PlanWriter {
 public:
  PlanWriter(StrategyProgram& program, const UpdateRule& update)
      : program_(program), update_(update) {}

  const std::vector<Bucket>& buckets() const { return program_.buckets(); }

  void compute() { update_.compute(program_); }
  void start(const Bucket& bucket, std::int32_t priority = 0);
  void finish(const Bucket& bucket, std::int32_t priority = 0);
  /// With loss scaling or clipping the buckets wait for apply_waiting(), in this order: how they
  /// are applied depends on the gradients of all.
  void apply(const Bucket& bucket, std::int32_t priority = 0);

  /// Starts, finishes and applies every bucket by itself.
  void synchronize();

  /// Appends the updates that have waited; called once, after the schedule.
  void apply_waiting();

  const StrategyProgram& program() const { return program_; }

 private:
  struct Waiting {
    Bucket bucket;
    std::int32_t priority = 0;
    bool finishes = false;
  };

  void finish_now(const Bucket& bucket, std::int32_t priority);
  void apply_now(const Bucket& bucket, std::int32_t priority);

  StrategyProgram& program_;
  const UpdateRule& update_;
  std::vector<Waiting> waiting_;  // to be applied
};

/// In which order the communicators of a schedule issue, and with which credit.
struct IssuePolicy {
  IssueOrder order = IssueOrder::kProgram;
  std::int64_t credit_bytes = std::numeric_limits<std::int64_t>::max();
};

/// What of each tensor lies in the slice, without the padding between them.
std::vector<Slice> tensors_in(const Slice& slice, const Program& program);

/// The begin and the end of each of these, counted from the slice's begin.
std::vector<double> borders_in(const Slice& slice, const Program& program);

/// The range of `slice` in another buffer.
Slice range_in(std::string_view buffer, const Slice& slice, const Program& program);

/// Where the copies of all ranks of `mine` lie, in a buffer that CodecRule::add_gathered adds; an
/// empty slice where it did not.
Slice gathered_in(std::string_view buffer, const Slice& mine, const Program& program);

/// The schedule's buckets that lie in `bucket`, of which a schedule may have joined several.
std::vector<Bucket> buckets_in(const Bucket& bucket, const Program& program);

/// When buckets are exchanged, how large they are, and in which order.
class ScheduleRule {
 public:
  virtual ~ScheduleRule() = default;

  /// It decides by the profile and the alpha-beta model of its input.
  virtual bool needs_times() const { return false; }

  virtual IssuePolicy issue_policy() const { return {}; }

  /// The buckets, as runs of the ready order.
  virtual Groups groups(const PlanInput& input, const TransferTime& time) const = 0;

  /// Here every bucket is exchanged and applied by itself, behind the model work.
  virtual void write(PlanWriter& writer) const {
    writer.compute();
    writer.synchronize();
  }

  /// As Planner::remark.
  virtual std::string remark(const PlanInput& /*input*/, const TransferTime& /*time*/) const {
    return {};
  }
};

}  // namespace paceline::strategies
