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

// The four parts of which most strategies are composed.  No part depends on another.  A schedule
// decides when slices are exchanged and in which buckets; an exchange decides between which ranks;
// a codec decides in which form; an update rule decides what is exchanged and how the result is
// applied. Each is in one file, strategies/<name>.cc, and has one row in the table of its axis,
// strategies/<axis>_table.cc.

namespace paceline::strategies {

/// How the wire forms of several ranks are combined into the input of decode().
enum class Combination : std::uint8_t {
  kSum,            // summed element by element; partial sums and weights are allowed
  kUncuttableSum,  // summed; the form's length is not the slice's, and the form must not be cut
  kMerge,          // a kernel combines all forms at once, element by element
  kGather,         // decode() reads the forms of all ranks side by side
  kPairs           // two ranks swap their forms, and the codec merges them
};

/// The properties that all wire forms of a codec share.  A wire form is the encoded slice that is
/// sent.
struct WireFormat {
  DType type = DType::kF32;  // kMerge, kSum: type of the elements that are sent
  Elements packed = 1;       // number of values that one sent element encodes
  Combination combination = Combination::kSum;
  std::string_view merge{};  // kMerge: the kernel that reads all forms and writes one
  bool summed = true;        // whether decode() gives the sum over the ranks; if not, it gives the
                             // final result
};

/// The wire form of a slice, and the buffers that hold it.
struct WireSlice {
  WireFormat format;
  Slice of;        // the slice, or the part of one, that the form encodes
  Slice mine;      // the form of this rank; with kSum and kMerge also the result
  Slice all{};     // kGather: the forms of all ranks in rank order; kPairs: that of the peer
  Rank peer = -1;  // kPairs: the other rank of the pair
  /// The slice in which an exchange of shards leaves this rank's shard, if that is not `mine`.
  std::optional<Slice> kept{};
};

/// Encodes the slices that an exchange sends and decodes the results.
///
/// In each round the codec computes the slices that this rank sends (wire slices), and the exchange
/// combines those of all ranks.  The next round, or decode(), starts from the result.  Wire slices
/// may have other lengths and element types than the values.
class CodecRule {
 public:
  virtual ~CodecRule() = default;

  /// The format depends only on the element type of the input.
  virtual WireFormat format(const PlanInput& input) const = 0;

  /// Adds the buffers that the codec needs for `builder.buckets()`.  Throws UsageError if the
  /// codec's mathematics does not allow this training.
  virtual void extend_setup(const PlanInput& input, SetupBuilder& builder) const = 0;

  virtual int rounds(const PlanInput& /*input*/) const { return 1; }

  /// The wire slices of `slice`, a bucket or a part of one, in a round.  They are the same on ranks
  /// that train and on ranks that are only servers.
  virtual std::vector<WireSlice> wire_slices(const Slice& slice, int round,
                                             const Program& program) const = 0;

  /// Appends the kernels that compute these wire slices from `slice` and from the results of
  /// earlier rounds.
  virtual void encode(const Slice& slice, int round, Program& program) const = 0;

  /// Appends the kernels that decode the last round's result into `slice`.
  virtual void decode(const Slice& slice, Program& program) const;

  /// kGather: adds the buffers of WireSlice::all.  Without this call they do not exist.
  virtual void add_gathered(SetupBuilder& /*builder*/) const {}

  /// A bound on the error with which the codec encodes the change of one rank's parameters, without
  /// state of earlier changes. nullopt, for any model, if the decoded form does not approximate the
  /// values.
  virtual std::optional<Contraction> contraction(const ModelShape& /*model*/) const {
    return std::nullopt;
  }

  /// Appends kernels that reset the codec's state for `slice` to that of the first step.
  virtual void forget(const Slice& slice, Program& program) const;

  /// Appends kernels that decode `forms`, one for each wire slice of all rounds, into the sum over
  /// the ranks whose forms they hold.  Every codec with a contraction() implements this; its rounds
  /// then follow each other without communication in between.
  virtual void decode_from(const std::vector<Slice>& forms, const Slice& slice,
                           Program& program) const;
};

/// What a schedule and an update rule must know about an exchange on one rank.
struct ExchangeTraits {
  Rank shards = 1;     // shards per bucket, which is padded to a multiple of this
  double divisor = 1;  // the result divided by this is the mean
  /// Ranks 0 .. n-1 have model work and the other ranks serve; all ranks have model work if there
  /// are fewer than n.
  Rank training_ranks = std::numeric_limits<Rank>::max();
  Symmetry symmetry{};  // as Planner::symmetry
  Step period = 1;      // number of steps after which the exchange's programs repeat
  Rank hosts = 0;       // number of hosts whose ranks first sum among themselves; 0: no host does
  /// The number of the shard that start() leaves on this rank, summed over all ranks, and that
  /// finish() sends to the other ranks; empty if the exchange leaves no shard.
  std::optional<Rank> own_shard{};
};

/// Exchanges a slice with other ranks in two halves, start and finish.  A schedule may place other
/// ops between them.
class ExchangeRule {
 public:
  virtual ~ExchangeRule() = default;

  /// Throws UsageError if the exchange does not exist for this world.
  virtual ExchangeTraits traits(const PlanInput& input) const = 0;

  /// Whether the exchange cuts slices into shards without regard to tensor borders.
  virtual bool cuts() const { return false; }

  /// The result of asymmetry_text_of() for the graph over which the exchange averages.  Empty if
  /// the graph is symmetric or the exchange does not check it.
  virtual std::string asymmetry_text(const PlanInput& /*input*/) const { return {}; }

  /// Whether the exchange can combine wire forms in this way.  Every exchange can sum; the other
  /// ways need the forms of all ranks in one place.
  virtual bool combines(Combination how) const { return how == Combination::kSum; }

  /// Adds the communicators and buffers that the exchange needs for `builder.buckets()` with wire
  /// forms of this format.
  virtual void extend_setup(const WireFormat& format, SetupBuilder& builder) const = 0;

  /// Appends kernels that turn values into the input of start(); the update rule calls this before
  /// it changes the values.  Only exchanges whose rows say `prepared` need this.
  virtual void prepare(const Slice& /*values*/, Program& /*program*/) const {}

  /// Appends the half that sends this rank's part.  It is called only in worlds of several ranks.
  virtual void start(const WireSlice& wire_slice, Program& program) const = 0;

  /// Appends the half that ends the exchange.  After it, WireSlice::mine holds the combined forms
  /// of the ranks, such as a sum that ExchangeTraits::divisor turns into a mean, or WireSlice::all
  /// holds the forms of all ranks.
  virtual void finish(const WireSlice& wire_slice, Program& program) const = 0;

  /// The predicted time of both halves for a payload of `bytes` that is alone on the network.
  /// `input.alpha_beta` must be given.  Throws UsageError if it lacks an operation that this needs.
  /// The default is the time of an all-reduce over the world; it also stands for the collectives
  /// inside hosts, because the model describes one world and no other groups.
  virtual Picoseconds time(const PlanInput& input, std::int64_t bytes) const {
    return input.alpha_beta->time(Pattern::kAllReduce, bytes);
  }

  /// The time of both halves for wire forms of `bytes` per rank that are combined as `how` says.
  virtual Picoseconds time_of_wire_forms(const PlanInput& input, std::int64_t bytes,
                                         Combination /*how*/) const {
    return time(input, bytes);
  }

  /// The codec that the exchange itself applies to the values it is given; null if it sends them
  /// unchanged.
  virtual const CodecRule* codec() const { return nullptr; }
};

/// An exchange and the codec of its slices.  A world of one rank exchanges nothing and therefore
/// encodes nothing.
struct ExchangeWithCodec {
  const ExchangeRule& exchange;
  const CodecRule& codec;
};

/// The program of a rank, together with the exchange and the codec for which it is written.
class StrategyProgram : public Program {
 public:
  StrategyProgram(const PlanInput& input, const Setup& setup, ProgramContext context,
                  const ExchangeWithCodec& transfer)
      : Program(input, setup, std::move(context)), transfer_(transfer) {}

  const ExchangeWithCodec& transfer() const { return transfer_; }
  ExchangeTraits exchange_traits() const { return transfer_.exchange.traits(input()); }

  /// Appends the kernels of ExchangeRule::prepare, in worlds of several ranks.
  void prepare_exchange(const Slice& values);

  /// Appends the rounds of the exchange, up to and including the start of the last round.
  void start_exchange(const Slice& slice);

  /// Appends the rest of the exchange, after which `slice` holds the result.
  void finish_exchange(const Slice& slice);

  /// The number by which the result must be divided to get the mean over the ranks, or the result
  /// that the codec gives instead of the mean.
  double divisor() const;

  /// As finish_exchange(), and appends the kernel that divides a sum by divisor().
  void finish_average(const Slice& slice);

 private:
  ExchangeWithCodec transfer_;
};

/// Decides what the ranks exchange, gradients or parameters, and how the parameters are updated
/// from the result.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  /// variants() is the number of different programs that the rule has for one step of the exchange;
  /// variant() is the one, from 0 on, that step `step` runs, and becomes program.turn().
  virtual Variant variants() const { return 1; }
  virtual Variant variant(Step /*step*/) const { return 0; }

  /// The number of the exchange in step `step`, from 0 on; 0 in a step without an exchange.  A
  /// topology with a period uses this number as its step.
  virtual Step exchange_number_in(Step step) const { return step; }

  /// The number of steps after which variant() repeats. In each such interval exchange_number_in()
  /// advances at least once.
  virtual Step interval() const { return 1; }

  /// The symmetry of the plans under an exchange with these traits, as Planner::symmetry: the part
  /// of the exchange's symmetry under which each rank keeps the same work.
  virtual Symmetry symmetry(const ExchangeTraits& exchange) const { return exchange.symmetry; }

  /// Adds buffers and communicators of the rule.  Throws UsageError if its mathematics does not
  /// allow the training or the exchange.
  virtual void extend_setup(const ExchangeRule& /*exchange*/, SetupBuilder& /*builder*/) const {}

  /// Appends the model work and any exchange before or in parallel with it.  The default is the
  /// model work alone.
  virtual void compute(StrategyProgram& program) const { program.compute(); }

  virtual void start(const Bucket& bucket, StrategyProgram& program) const = 0;
  virtual void finish(const Bucket& bucket, StrategyProgram& program) const = 0;

  /// Whether the rule divides by the learning rate, which must then be above 0.
  virtual bool divides_by_rate() const { return false; }

  /// Whether finish() updates the parameters; other rules do so in start() or apply(). If gradients
  /// are clipped, such a finish() waits for all gradients.
  virtual bool updates_in_finish() const { return false; }

  /// Called where gradients are clipped, before the delayed updates.  `finishing` has all buckets
  /// that finish() will be called with.  A rule whose ranks hold shards of the gradients calls
  /// Program::clip.
  virtual void clip(const std::vector<Bucket>& /*finishing*/, StrategyProgram& /*program*/) const {}

  /// Appends the work on this rank after the bucket's exchange has finished, such as the update. A
  /// schedule may apply several buckets, or all, as one. The default is nothing.
  virtual void apply(const Bucket& /*bucket*/, StrategyProgram& /*program*/) const {}
};

/// Appends the parts of a plan in the order of a schedule: the start and the finish of a bucket's
/// exchange, and its update.  Priorities are those of Op: the smallest goes first.
class PlanWriter {
 public:
  PlanWriter(StrategyProgram& program, const UpdateRule& update)
      : program_(program), update_(update) {}

  const std::vector<Bucket>& buckets() const { return program_.buckets(); }

  void compute() { update_.compute(program_); }
  void start(const Bucket& bucket, std::int32_t priority = 0);
  void finish(const Bucket& bucket, std::int32_t priority = 0);
  /// With loss scaling or clipping, the updates are delayed until apply_delayed_updates(), in this
  /// order, because they depend on the gradients of all buckets.
  void apply(const Bucket& bucket, std::int32_t priority = 0);

  /// Starts, finishes and applies the exchange of every bucket, one bucket after the other.
  void synchronize();

  /// Appends the updates that apply() has delayed. Called once, after the schedule has written its
  /// ops.
  void apply_delayed_updates();

  const StrategyProgram& program() const { return program_; }

 private:
  struct DelayedUpdate {
    Bucket bucket;
    std::int32_t priority = 0;
    bool finishes = false;
  };

  void finish_now(const Bucket& bucket, std::int32_t priority);
  void apply_now(const Bucket& bucket, std::int32_t priority);

  StrategyProgram& program_;
  const UpdateRule& update_;
  std::vector<DelayedUpdate> delayed_updates_;  // the delayed updates
};

/// The order in which a schedule's communicators issue ops, and the limit of bytes in flight
/// (credit).
struct IssuePolicy {
  IssueOrder order = IssueOrder::kProgram;
  std::int64_t credit_bytes = std::numeric_limits<std::int64_t>::max();
};

/// The parts of tensors that lie in the slice, without the padding between them.
std::vector<Slice> tensors_in(const Slice& slice, const Program& program);

/// The begin and the end of each part that tensors_in() returns, in elements from the slice's
/// begin.
std::vector<double> tensor_borders_in(const Slice& slice, const Program& program);

/// The slice of `buffer` that has the same range as `slice`.
Slice same_range_in(std::string_view buffer, const Slice& slice, const Program& program);

/// Returns the slice in which the copies of `mine` from all ranks lie one after the other, in a
/// buffer that CodecRule::add_gathered adds; empty if it added none.
Slice gathered_slice_in(std::string_view buffer, const Slice& mine, const Program& program);

/// The schedule's buckets that lie in `bucket`, which may be a join of several.
std::vector<Bucket> buckets_in(const Bucket& bucket, const Program& program);

/// Decides when buckets are exchanged, how large they are, and in which order.
class ScheduleRule {
 public:
  virtual ~ScheduleRule() = default;

  /// Whether the schedule needs the profile and the alpha-beta model of its input.
  virtual bool needs_times() const { return false; }

  virtual IssuePolicy issue_policy() const { return {}; }

  /// The buckets, each of which is a run of the ready order.
  virtual Groups groups(const PlanInput& input, const TransferTime& time) const = 0;

  /// Writes the plan.  The default exchanges and applies every bucket by itself, after the model
  /// work.
  virtual void write(PlanWriter& writer) const {
    writer.compute();
    writer.synchronize();
  }

  /// A line for users about the schedule's choices, as Planner::remark.
  virtual std::string remark(const PlanInput& /*input*/, const TransferTime& /*time*/) const {
    return {};
  }
};

}  // namespace paceline::strategies
