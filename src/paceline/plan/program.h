// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// A division of the parameters into groups, each of which becomes a bucket.  The groups follow
/// each other in ready order, and every parameter is in exactly one group.
using Groups = std::vector<std::vector<ParameterId>>;

/// A range of the flat layout that is exchanged or updated as a whole: a slice of the values, and
/// the same range of the gradients. It holds whole tensors and the padding after each of them.
struct Bucket {
  std::vector<ParameterId> parameters;  // in ready order
  Slice values, gradients;
};

/// Every tensor starts at a multiple of this many bytes.
inline constexpr std::int64_t kAlignmentBytes = 64;

inline constexpr std::string_view kValues = "values";
inline constexpr std::string_view kGradients = "gradients";
inline constexpr std::string_view kLearningRate = "learning_rate";
inline constexpr std::string_view kStepCount = "step_count";
inline constexpr std::string_view kLossScale = "loss_scale";
inline constexpr std::string_view kAppliedScale = "applied_scale";
inline constexpr std::string_view kFoundInf = "found_inf";
inline constexpr std::string_view kGrowth = "growth";
inline constexpr std::string_view kSquares = "gradient_squares";

std::optional<BufferId> find_buffer(const Setup& setup, std::string_view name);

/// The buffer of this name.  A missing buffer is a bug.
BufferId buffer_named(const Setup& setup, std::string_view name);

/// The communicator of this name.  A missing communicator is a bug.
CommunicatorId communicator_named(const Setup& setup, std::string_view name);

/// The slice of a whole buffer, given by its id or by its name as for buffer_named().
Slice whole(const Setup& setup, BufferId buffer);
Slice whole(const Setup& setup, std::string_view buffer);

/// Throws UsageError unless a plan can be written for the input: the ready order must have every
/// parameter once, every parameter's module must exist, and rank and micro-batches must be valid.
void check_shape(const PlanInput& input);

/// Builds a Setup: first the flat buffers that every planner has, then the planner's own buffers
/// and communicators.
///
/// "values" and "gradients" hold the parameters in the order of `groups`.  Each tensor begins at a
/// multiple of 64 bytes, so any run of neighbors in ready order is one contiguous slice of both.
/// Padding is zero and stays zero: only element-wise kernels and collectives, which map zeros to
/// zeros, write to it.  The end of a group is padded to a multiple of `shards` aligned pieces.
///
/// The other buffers are one of the same layout per state of the optimizer, "learning_rate" (one
/// F64: bias corrections are computed in double), and, if the optimizer counts steps, "step_count"
/// (one F32).  With loss scaling there are also "loss_scale", "applied_scale", "found_inf" (one F32
/// each) and "growth" (one I32: the number of good steps since the scale changed).  With clipping
/// there are "gradient_squares" (one F64), "applied_scale" and "found_inf".
class SetupBuilder {
 public:
  SetupBuilder(const PlanInput& input, const Groups& groups, Rank shards = 1);

  BufferId add_buffer(Buffer buffer);
  CommunicatorId add_communicator(std::string name, Members members);

  /// Adds a communicator of all ranks.
  CommunicatorId add_world_communicator(std::string name);

  /// Adds a communicator of all ranks for messages that a rank issues as they become ready, the
  /// lowest priority number first, whatever the issue policy.  The bytes in flight have no limit
  /// (credit), because two ranks that spent a limit in different orders would wait for each other.
  CommunicatorId add_as_ready_communicator(std::string name);

  /// Sets the issue order and the credit of the communicators that are added after this call.
  void set_issue_policy(IssueOrder order, std::int64_t credit_bytes);

  /// Reduces the state of the optimizer to one of `shards` equal pieces of every bucket: the state
  /// of element e of a bucket's piece is at b / shards + e, where b is the begin of the bucket in
  /// the values.
  void shard_optimizer(Rank shards);

  /// Saves memory: bucket i uses the gradient memory of bucket i - `slots`, so only `slots` buckets
  /// have gradient memory at a time.
  void share_gradient_memory(std::size_t slots);

  /// Adds a buffer with the layout of the values, and with their type unless another is given.
  BufferId add_buffer_like_values(std::string_view name, InitialValue initial = InitialValue::kZero,
                                  std::optional<DType> type = {});

  const Setup& setup() const { return setup_; }
  const PlanInput& input() const { return input_; }
  Rank rank() const { return input_.rank; }

  /// The buckets of the groups, in the layout that the constructor made.
  const std::vector<Bucket>& buckets() const { return buckets_; }

  Setup finish() && { return std::move(setup_); }

 private:
  void place(const Groups& groups, Rank shards);
  void add_optimizer();
  void add_scales();

  const PlanInput& input_;
  Setup setup_;
  std::vector<Bucket> buckets_;
  IssueOrder order_ = IssueOrder::kProgram;
  std::int64_t credit_bytes_ = std::numeric_limits<std::int64_t>::max();
};

/// Returns piece number `index`, from 0, of `shards` equal pieces of a slice.
Slice shard_of(const Slice& slice, Rank index, Rank shards);

/// The buckets of `groups` in a layout that SetupBuilder made.  The layout's groups must have the
/// same order of parameters, but may have other borders.
std::vector<Bucket> buckets_of(const Setup& setup, const Groups& groups);

/// Settings with which a program is built, besides its input and setup.
struct ProgramContext {
  std::vector<Bucket> buckets{};  // buckets of the schedule; empty without a schedule
  bool trains = true;             // if false, model work and updates are omitted
  Rank shards = 1;                // buckets are a multiple of this number of aligned pieces
  Step phase = 0;                 // step number within the period of the exchange
  Variant turn = 0;               // variant of the update rule that this step runs
  std::string strategy{};         // name of the strategy, for messages
};

/// The largest number of messages that one rank may send and receive in a step.  A server of a
/// million workers would exceed it with its second partition.
inline constexpr std::size_t kMostMessages = 1'000'000;

/// Builds a CommPlan, op by op, in program order.
///
/// Kernel contracts (reads; writes; numbers):
///   copy     n slices; n slices; {factor}: writes[i] = factor * reads[i]
///   view     n slices; n slices; {1}: as copy, but nothing moves: the op's owner
///            makes the written memory the read memory
///   nesterov anchor, outer momentum, sum; anchor, outer momentum; {rate, mu,
///            divisor}: with d = sum / divisor, m = mu m + d and
///            anchor -= rate (d + mu m)
///   slow_momentum  anchor, slow momentum, values, learning_rate; anchor, slow
///            momentum; {rate, beta}: m = beta m + (anchor - values) /
///            learning_rate, anchor -= rate learning_rate m
///   cast     1 slice; 1 slice of another type: rounds to the nearest even
///   linear   n slices; 1 slice; n weights: the weighted sum, added in order
///   multiply 1 slice, 1 element; 1 slice; {}: every value times the element
///   divide   1 slice, 1 element; 1 slice; {}: every value over the element
///   count    step_count, [found_inf]; step_count; {}: adds 1 - found_inf
///   update   values, gradients, each state, learning_rate, [step_count],
///            [applied_scale, found_inf]; values, gradients, each state;
///            {divisor}: unless found_inf is 1, applies the optimizer to
///            gradients / (divisor * applied_scale), which it may compute in
///            place; of a layerwise optimizer, matrices are whole
///   check    gradients; gradients, found_inf; {}: 1 where any is not finite,
///            else 0; the gradients keep their values
///   square_sum  n slices; 1 element (F64); {}: the sum of all squares
///   clip     squares, [applied_scale]; applied_scale; {largest norm, divisor,
///            copies}: with s the applied scale, 1 where it is not read, and
///            norm = sqrt(squares / copies) / (divisor * s), writes
///            s * max(1, (norm + 1e-6) / largest norm)
///   topk     gradients, residual; k values, their k indices (I32),
///            residual; {}: adds the gradients to the residual and moves the k
///            elements of largest magnitude out of it, of equal ones the
///            first; indices count from the slice's begin and ascend
///   scatter  [values, indices]; 1 slice; {}: zero, plus each value at its
///            index, added in order
///   sign     n values; n/8 bytes (I8); {}: one bit each, lowest first, 1
///            where the value is at least zero
///   unsign   n slices of bytes; n slices; {}: +1 where the bit is 1, else -1
///   vote     slices of one or more copies of m bytes; m bytes; {}: each bit as
///            at least half of the copies have it 1
///   ef_sign  gradients, residual; n/8 bytes of signs and an F32 for each
///            tensor (I8), residual; {begin, end of each tensor}: adds the
///            gradients to the residual, takes the signs and each tensor's
///            mean magnitude, and subtracts their product from it
///   ef_sign_sum  copies of such forms; 1 slice; {the same}: the sum over copies
///            of each tensor's signs times its scale; zero between tensors
///   sign8    n values; n bytes (I8); {}: +1 where the value is at least zero,
///            else -1
///   unsign8  n slices of bytes; n slices; {}: the sign of each, by the rule of sign8
///   gtopk_merge  values and indices of two ranks, this rank's own values and
///            indices, residual; values, indices, own values, residual; {}: the k
///            largest of the sums by index; own values at other indices are added to
///            the residual
///   random_k as topk, at indices that are drawn from the tensors; {begin, end of
///            each tensor}
///   qsgd     n values; n codes and an F32 a block (I8); {levels, block, rank}:
///            multiples of the block's norm / levels, rounded at random
///   qsgd_sum copies of such codes; n values; {levels, block}: their sum
///   powersgd_left  gradients, residual, [Q]; P, residual, [Q]; {begin, rows,
///            columns, rank of each tensor}: adds the gradients to the residual
///            M, P = M Q; rank 0: P is the gradients
///   powersgd_right  P, residual; P, Q; {the same}: P orthonormal, Q = M^T P
///   powersgd_outer  P, [Q], [residual]; 1 slice, [residual]; {the same,
///            [ranks]}: P Q^T; subtracts P Q^T / ranks from the
///            residual
///   embedding rows; {job and rank of strategies/embedding_job.h}, Note [Ragged
///   slices] in plan/ragged.h:
///   draw_rows      nothing; a server's rows: their start values
///   deduplicate    nothing; ids of each server, index, offsets of bags: draws
///                  the step's lookups; index has the place of each lookup's row
///                  among the rows of all servers
///   lookup         rows of the server, ids; the rows that they name
///   pool           rows of all servers, index, offsets; bags
///   pool_gradient  gradient of bags, ids, index, offsets; gradients of rows
///   update_rows    rows of the server, ids and gradients of each trainer,
///                  [state]; rows, [state]: applies the mean over the trainers,
///                  with the step's learning rate
///   update_all_rows  the same; rows, [state], gradients: updates all rows of
///                  the server; rows without a lookup have gradient zero
///   rescale  found_inf, loss_scale, growth; loss_scale, growth, applied_scale;
///            {growth factor, backoff factor, interval}: copies the scale to
///            applied_scale, then adapts it
///
/// Note [Loss scaling]: fp16 gradients vanish or overflow, so backward starts from loss_scale.  A
/// step whose reduced gradients are not all finite has no update and halves the scale (Micikevicius
/// et al., ICLR 2018, arXiv:1710.03740).  The training thread, which is not an op, reads loss_scale
/// when all Forward of a step are complete.  That is safe: rescale writes applied_scale, which
/// every update reads, so a complete update follows a complete rescale, and the gates of the next
/// forward wait for the updates.  The next rescale waits, through check, for every Backward that
/// used the value read.
class Program {
 public:
  Program(const PlanInput& input, const Setup& setup, ProgramContext context = {})
      : input_(input), setup_(setup), context_(std::move(context)) {}

  /// Appends all Forward, then all Backward in ready order, for each micro-batch in turn.
  void compute();

  /// These functions append all Forward, or all Backward, of one micro-batch.
  void forward_pass(int micro = 0);
  void backward_pass(int micro = 0);

  /// Appends a given op, for a planner that extends the program of another planner.
  OpIndex append(Op op);

  OpIndex forward(ModuleId module, int micro = 0);
  OpIndex backward(ParameterId parameter, int micro = 0);
  OpIndex all_reduce(const Slice& slice, CommunicatorId on, Reduce reduce = Reduce::kSum);
  OpIndex reduce_scatter(const Slice& in, const Slice& out, CommunicatorId on,
                         Reduce reduce = Reduce::kSum);
  OpIndex all_gather(const Slice& in, const Slice& out, CommunicatorId on);
  OpIndex broadcast(const Slice& slice, Rank root, CommunicatorId on);
  /// Appends an exchange.  Throws UsageError for more than kMostMessages messages in one step, and
  /// for messages in both directions on a kPriority communicator with a credit: two ranks could
  /// each hold back the message that the other waits for.
  OpIndex exchange(CommunicatorId on, std::vector<Message> sends, std::vector<Message> receives);
  OpIndex kernel(std::string_view name, std::vector<Access> reads, std::vector<Access> writes,
                 std::vector<double> numbers = {});

  /// With loss scaling, appends check and rescale, Note [Loss scaling].  Must be called once, after
  /// every gradient is reduced and before the first update.  Each rank checks its own gradients, so
  /// ranks that must agree need equal ones.
  void check_gradients();

  /// With clipping, appends kernels that scale the divisor of all updates of the step, so that the
  /// norm of `gradients` over `divisor` is at most PlanInput::clip_norm, as
  /// torch.nn.utils.clip_grad_norm_ does.  Must be called once, when the gradients are final.  If
  /// each rank has a part of them, the squares are summed `on` a communicator, where each value is
  /// counted `copies` times.
  void clip(std::vector<Access> gradients, double divisor, std::optional<CommunicatorId> on = {},
            double copies = 1);

  /// Appends the update of a bucket.  The first call of a step also counts the step if the
  /// optimizer needs it, and clips this rank's gradients unless clip() has been called.
  void update(const Bucket& bucket, double divisor);

  /// Appends the update of a slice of the values with gradients of the same length; its state
  /// begins at element `state_begin` of the state's buffers.  Throws UsageError if the optimizer is
  /// layerwise and the slice has a part of a matrix.
  void update(const Slice& values, const Slice& gradients, Elements state_begin, double divisor);

  /// Makes `op` wait for `earlier` even if the two have no data dependency.
  void after(OpIndex op, OpIndex earlier);
  Op& at(OpIndex op);
  OpIndex size() const { return static_cast<OpIndex>(plan_.ops.size()); }

  /// Sets the priority of all ops from `first` to the last one.
  void set_priority(OpIndex first, std::int32_t priority);

  const std::vector<Bucket>& buckets() const { return context_.buckets; }
  bool trains() const { return context_.trains; }
  Rank shards() const { return context_.shards; }
  Step phase() const { return context_.phase; }
  Variant turn() const { return context_.turn; }

  /// The index of the bucket that contains this element of values or gradients.
  std::size_t bucket_at(Elements element) const;

  /// Returns a value that a part of the strategy computes from the input and the buckets, and that
  /// it needs several times in a program. `make` computes it at the first call for a type `T`;
  /// later calls return the stored value.
  template <class T, class Make>
  const T& derived(const Make& make) {
    std::any& kept = derived_[typeid(T)];
    if (!kept.has_value()) {
      kept = make();
    }
    return std::any_cast<const T&>(kept);
  }

  /// Returns the index of the Backward that was appended last; nullopt before compute().
  std::optional<OpIndex> last_backward() const;

  /// Returns the index of the Backward whose gradient is the last of the bucket's gradients to
  /// become final; nullopt before compute().
  std::optional<OpIndex> last_backward(const Bucket& bucket) const;

  const PlanInput& input() const { return input_; }
  const Setup& setup() const { return setup_; }

  CommPlan finish() && { return std::move(plan_); }

 private:
  void require_whole_matrices(const Slice& values) const;

  const PlanInput& input_;
  const Setup& setup_;
  ProgramContext context_;
  std::map<std::type_index, std::any> derived_;
  CommPlan plan_;
  std::size_t messages_ = 0;
  std::vector<OpIndex> backwards_;  // index of the newest Backward by ParameterId; -1: none
  bool counted_ = false, gradients_checked_ = false, clipped_ = false;
};

}  // namespace paceline::plan
