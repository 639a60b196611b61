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
// slices of flat buffers; executors overlap whatever the program's own reads and writes allow.  No
// op says what it waits for: it waits for the earlier ops, of this step or of any step before, that
// touch
// the same elements.  docs/plan-language.md has the rules.

namespace paceline::plan {

struct PlanInput;  // plan/plan_input.h

using Step = std::int64_t;
using Variant = std::int64_t;
using Elements = std::int64_t;
using OpIndex = std::int32_t;

enum class ParameterId : std::int32_t {};
enum class ModuleId : std::int32_t {};  // a gated unit
enum class BufferId : std::int32_t {};
enum class CommunicatorId : std::int32_t {};

/// kF8 is a number of 8 bits of which only the bytes count: plans with it are priced, not
/// performed.
enum class DType : std::uint8_t { kF32, kF64, kF16, kBF16, kF8, kI8, kI32, kI64 };
enum class Initial : std::uint8_t { kZero, kOne, kParameters };

/// A bucket, a tensor, a partition, a shard: always contiguous.
struct Slice {
  BufferId buffer{};
  Elements begin = 0, count = 0;

  friend bool operator==(const Slice&, const Slice&) = default;
};

/// A flat array on one rank, alive as long as the job.
struct Buffer {
  std::string name;  // gradients, momentum, residual, ...; also in checkpoints
  DType dtype = DType::kF32;
  Elements elements = 0;              // capacity where the length varies
  std::optional<Elements> typical{};  // ragged: true length known at run time
  std::optional<Slice> stands_for{};  // whose shapes and decay groups it has
  Initial initial = Initial::kZero;
  std::string_view performer{};  // who owns the memory if not the executor
};

/// Where a parameter lives; neighbors can be fused.
struct Placement {
  Slice value, gradient;
};

/// How the ops of a communicator are issued (plan/issue_rule.h).
enum class IssueOrder : std::uint8_t {
  kProgram,   // as the program lists them
  kPriority,  // as the first member picks them
  kAsReady    // exchanges alone, each as soon as it is ready
};

/// A group of ranks, an issue order, bytes allowed in flight.  One number may stand for several
/// disjoint groups, for example one on each host.  Then the setup of a rank holds the group that
/// the rank is a member of, or a group without members where the rank is in none.
struct Communicator {
  std::string name;  // differs between groups
  Members members;
  IssueOrder order = IssueOrder::kProgram;
  std::int64_t credit_bytes = std::numeric_limits<std::int64_t>::max();
};

/// Shared by all variants; allocated and connected before step 0.
struct Setup {
  std::vector<Placement> parameters;  // by ParameterId
  std::vector<Slice> statistics;      // by ModuleId; Forward updates them
  std::vector<Buffer> buffers;
  std::vector<Communicator> communicators;  // as many on every rank
};

struct Access {
  Slice slice;
  Step slack = 0;  // may miss the writes of the last `slack` steps
};

struct Forward {  // reads the module's parameter values
  ModuleId module{};
  int micro = 0;
};

struct Backward {  // reads the value; micro 0 writes the gradient, others add
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

/// Its messages are in flight together; done when all are.
struct Exchange {
  CommunicatorId on{};
  std::vector<Message> sends, receives;
};

/// A row of the kernel table: "linear", "update", "topk.encode".
struct Kernel {
  std::string_view name;
  std::vector<Access> reads, writes;  // in place: listed in both
  std::vector<double> numbers;        // weights, density, divisor, ...
};

struct Op {
  std::variant<Forward, Backward, Collective, Exchange, Kernel> work;
  std::vector<OpIndex> after{};  // earlier ops, beyond the hazards (throttles)
  std::int32_t priority = 0;     // smaller first
  std::string_view performer{};  // who issues it if not the executor
};

/// The communicator of a Collective or Exchange.
std::optional<CommunicatorId> communicator_of(const Op& op);

/// Forward or Backward.
bool is_model_work(const Op& op);

/// One rank, one step, in program order.
struct CommPlan {
  std::vector<Op> ops;
};

/// Which permutations of ranks leave all plans as they are, except that the plans name other ranks,
/// and other shares of equal size.  Kernels still
/// write parts of equally many parameters, by which they may cost.
///
/// `count` ranks from `first` on form blocks of `block` neighbors.  Blocks may
/// be permuted: in any order, or else only rotated as a ring.  The last
/// `movable` places of a block may be permuted too, in all blocks alike.
struct Symmetry {
  Rank first = 0;
  Rank count = 0;  // 0: no rank may move; else a multiple of `block`
  Rank block = 1;
  Rank movable = 1;  // 1: every place of a block stays
  bool in_any_order = false;

  /// The first of the places that `place` of a block may take.
  constexpr Rank first_place(Rank place) const {
    return place < block - movable ? place : block - movable;
  }
};

/// The first `count` ranks, in blocks of `block`, may be permuted.
constexpr Symmetry any_order(Rank count, Rank block = 1, Rank movable = 1) {
  return {.count = count, .block = block, .movable = movable, .in_any_order = true};
}

/// The first `count` ranks, in blocks of `block`, may be rotated.
constexpr Symmetry in_a_ring(Rank count, Rank block = 1, Rank movable = 1) {
  return {.count = count, .block = block, .movable = movable};
}

/// Writes one rank's training step as a sequential program over flat buffers.
///
/// A planner touches no tensor and opens no socket, so the runtime, the simulator and the
/// interpreter execute the very same plan.
class Planner {
 public:
  virtual ~Planner() = default;

  /// Buffers and communicators, shared by every step.
  virtual Setup setup(const PlanInput& input) const = 0;

  /// Which of the planner's programs step `step` runs; the same one on all ranks.
  virtual Variant variant(const PlanInput& input, Step step) const = 0;

  /// So many first steps have every variant among them.
  virtual Step period(const PlanInput& /*input*/) const { return 64; }

  /// The program.  Pure: equal arguments give equal plans on every rank, which is what keeps
  /// collectives in the same order everywhere.
  virtual CommPlan plan(const PlanInput& input, const Setup& setup, Variant variant) const = 0;

  /// How many ranks have model work: ranks 0 .. n-1.  The others only serve.
  virtual Rank training_ranks(const PlanInput& input) const;

  /// The permutations of ranks that leave the plans as they are, whatever the hosts; the same for
  /// every input.rank.  The simulator folds ranks by it.
  virtual Symmetry symmetry(const PlanInput& /*input*/) const { return {}; }

  /// One line for users about the planner's choices; empty where the planner chooses nothing.
  virtual std::string remark(const PlanInput& /*input*/) const { return {}; }
};

/// All variants, each once, in the order of their first steps.
std::vector<Variant> variants_of(const Planner& planner, const PlanInput& input);

/// Index of an id in the vector that it numbers.
template <class Id>
constexpr std::size_t index_of(Id id) {
  return static_cast<std::size_t>(id);
}

/// Bytes of one element.
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
