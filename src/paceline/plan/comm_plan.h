// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "paceline/plan/members.h"

// The plan language.  A plan is one rank's training step, written as a sequential program over
// slices of flat buffers.  Executors overlap ops wherever the reads and writes of the program
// allow.  An op does not list the ops that it waits for: it waits for the earlier ops, of this step
// or of any earlier step, that touch the same elements.  docs/plan-language.md has the rules.

namespace paceline::plan {

struct PlanInput;  // plan/plan_input.h

using Step = std::int64_t;
using Variant = std::int64_t;
using Elements = std::int64_t;
using OpIndex = std::int32_t;

enum class ParameterId : std::int32_t {};
enum class ModuleId : std::int32_t {};  // a module at whose gate executors may wait before its
                                        // forward pass
enum class BufferId : std::int32_t {};
enum class CommunicatorId : std::int32_t {};

/// kF8 stands for any type of 8 bits per number.  Plans with it serve to predict times; no executor
/// performs them.
enum class DType : std::uint8_t { kF32, kF64, kF16, kBF16, kF8, kI8, kI32, kI64 };
enum class InitialValue : std::uint8_t { kZero, kOne, kParameters };

/// A contiguous part of a buffer, such as a bucket, a tensor, a partition or a shard.
struct Slice {
  BufferId buffer{};
  Elements begin = 0, count = 0;

  friend bool operator==(const Slice&, const Slice&) = default;
};

/// A flat array on one rank, alive as long as the job.
struct Buffer {
  std::string name;  // gradients, momentum, residual, ...; the name in checkpoints
  DType dtype = DType::kF32;
  Elements elements = 0;                 // number of elements; the capacity if the length varies
  std::optional<Elements> typical{};     // typical length if slices are ragged (plan/ragged.h)
  std::optional<Slice> layout_source{};  // slice of another buffer whose tensors and weight-decay
                                         // groups describe this one
  InitialValue initial = InitialValue::kZero;
  std::string_view performer{};  // code that owns the memory; empty: the executor does
};

/// The slices of a parameter's value and gradient.  Neighboring placements can be fused.
struct ParameterPlacement {
  Slice value, gradient;
};

/// The order in which a rank issues the ops of one communicator (plan/issue_rule.h).
enum class IssueOrder : std::uint8_t {
  kProgram,   // in the order of the plan's ops
  kPriority,  // in the order that the first member of the group chooses
  kAsReady    // exchanges only: each rank issues its ops as they become ready
};

/// A group of ranks with an issue order and a limit of bytes in flight.  One id may stand for
/// several disjoint groups, for example one on each host.  Then the setup of a rank holds the group
/// that the rank is a member of, or a group without members if the rank is in none.
struct Communicator {
  std::string name;  // different for each group
  Members members;
  IssueOrder order = IssueOrder::kProgram;
  std::int64_t credit_bytes = std::numeric_limits<std::int64_t>::max();
};

/// The buffers, placements and communicators that all variants share.  They are allocated and
/// connected before step 0.
struct Setup {
  std::vector<ParameterPlacement> parameters;  // indexed by ParameterId
  std::vector<Slice> statistics;               // indexed by ModuleId; Forward updates them
  std::vector<Buffer> buffers;
  std::vector<Communicator> communicators;  // the same number on every rank
};

struct Access {
  Slice slice;
  Step slack = 0;  // the access may miss the writes of the last `slack` steps
};

struct Forward {  // reads the module's parameter values
  ModuleId module{};
  int micro = 0;
};

struct Backward {  // reads the value; micro-batch 0 writes the gradient, others add to it
  ParameterId parameter{};
  int micro = 0;
};

enum class Pattern : std::uint8_t { kAllReduce, kReduceScatter, kAllGather, kBroadcast };
enum class Reduce : std::uint8_t { kNone, kSum, kMean, kMax };

struct Collective {
  Pattern pattern{};
  CommunicatorId on{};
  Slice in, out;
  Reduce reduce = Reduce::kNone;
  Rank root = 0;
};

struct Message {
  Rank peer = 0;
  Slice slice;
};

/// Sends and receives messages that are in flight together.  It is complete when all of them are.
struct Exchange {
  CommunicatorId on{};
  std::vector<Message> sends, receives;
};

/// Runs a row of the kernel table, such as "linear", "update" or "topk".
struct Kernel {
  std::string_view name;
  std::vector<Access> reads, writes;  // an operand that is changed in place is in both
  std::vector<double> numbers;        // constants of the kernel: weights, density, divisor, ...
};

struct Op {
  std::variant<Forward, Backward, Collective, Exchange, Kernel> work;
  std::vector<OpIndex> after{};  // earlier ops to wait for without a data dependency
  std::int32_t priority = 0;     // ops with smaller numbers go first
  std::string_view performer{};  // code that issues the op; empty: the executor does
};

/// Returns the communicator of a Collective or Exchange; nothing for other ops.
std::optional<CommunicatorId> communicator_of(const Op& op);

/// Whether the op is Forward or Backward.
bool is_model_work(const Op& op);

/// The ops of one rank and one step, in program order.
struct CommPlan {
  std::vector<Op> ops;
};

/// Describes which ranks are equivalent: permutations of ranks that leave all plans unchanged,
/// except that the plans name other ranks and other shards of equal size. Kernels still write parts
/// of the same number of parameters, since their cost may depend on it.
///
/// `count` ranks from `first` on form blocks of `block` neighbors.  The blocks may be permuted in
/// any order, or, unless `in_any_order`, only rotated as a ring.  The last `movable` ranks of a
/// block may also be permuted; the permutation is the same in all blocks.
struct Symmetry {
  Rank first = 0;
  Rank count = 0;  // 0: no rank may be exchanged; else a multiple of `block`
  Rank block = 1;
  Rank movable = 1;  // 1: ranks within a block keep their positions
  bool in_any_order = false;

  /// Returns the lowest position within a block with which position `place` may be exchanged.
  constexpr Rank first_exchangeable_position(Rank place) const {
    return place < block - movable ? place : block - movable;
  }
};

/// The first `count` ranks, in blocks of `block`, may be permuted.
constexpr Symmetry symmetry_in_any_order(Rank count, Rank block = 1, Rank movable = 1) {
  return {.count = count, .block = block, .movable = movable, .in_any_order = true};
}

/// The first `count` ranks, in blocks of `block`, may be rotated.
constexpr Symmetry symmetry_in_a_ring(Rank count, Rank block = 1, Rank movable = 1) {
  return {.count = count, .block = block, .movable = movable};
}

/// Writes one rank's training step as a sequential program over flat buffers.
///
/// A planner touches no tensor and opens no socket, so the runtime, the simulator and the
/// interpreter execute the same plan.
class Planner {
 public:
  virtual ~Planner() = default;

  /// The buffers and communicators that all steps share.
  virtual Setup setup(const PlanInput& input) const = 0;

  /// The number of the program that step `step` runs; the same on all ranks.
  virtual Variant variant(const PlanInput& input, Step step) const = 0;

  /// A number of steps, from step 0 on, in which every variant occurs at least once.
  virtual Step period(const PlanInput& /*input*/) const { return 64; }

  /// The program of a variant.  The function is pure: equal arguments give equal plans on every
  /// rank, which keeps collectives in the same order everywhere.
  virtual CommPlan plan(const PlanInput& input, const Setup& setup, Variant variant) const = 0;

  /// The number n of ranks with model work, which are ranks 0 .. n-1.  The other ranks are servers.
  virtual Rank training_ranks(const PlanInput& input) const;

  /// The permutations of ranks that leave the plans unchanged, whatever the hosts; the same for
  /// every input.rank.  The simulator uses it to simulate one rank for all equivalent ones.
  virtual Symmetry symmetry(const PlanInput& /*input*/) const { return {}; }

  /// One line for users about the planner's choices; empty if it makes none.
  virtual std::string remark(const PlanInput& /*input*/) const { return {}; }
};

/// All variants of a planner, each once, in the order of their first steps.
std::vector<Variant> variants_of(const Planner& planner, const PlanInput& input);

/// The index of an id in the vector that the id numbers.
template <class Id>
constexpr std::size_t index_of(Id id) {
  return static_cast<std::size_t>(id);
}

/// Returns the number of bytes of one element.
constexpr std::int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::kF8:
    case DType::kI8:
      return 1;
    case DType::kF16:
    case DType::kBF16:
      return 2;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kF64:
    case DType::kI64:
      return 8;
  }
  return 0;
}

}  // namespace paceline::plan
