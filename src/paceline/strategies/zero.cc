// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/rows.h"

// Update rules that shard the optimizer's state, and with zero-2 also the summed gradients, among
// the ranks.  Rajbhandari et al. (ZeRO), SC 2020, arXiv:1910.02054.

namespace paceline::strategies {
namespace {

constexpr auto kNormCommunicator = "norm";
constexpr std::string_view kShardsBuffer = "gradient_shards";
constexpr std::size_t kGradientSlots = 2;
constexpr Rank kMaxShardClasses = 256;

/// The part that zero-1 and zero-2 share: the work with a rank's shards.
class ShardedUpdate : public UpdateRule {
 public:
  explicit ShardedUpdate(std::string_view name) : name_(name) {}

  /// The part of the exchange's symmetry under which each rank keeps its own shard, because shards
  /// have different numbers of tensors.  With more than kMaxShardClasses shards, all are treated as
  /// equal to the first, which has no padding after it.  If the time of an update depends only on
  /// the number of elements, no shard takes longer than the first.
  Symmetry symmetry(const ExchangeTraits& exchange) const override {
    if (exchange.shards > kMaxShardClasses) {
      return exchange.symmetry;
    }
    Symmetry kept = exchange.symmetry;
    kept.movable = 1;
    return kept.block == exchange.shards ? kept : Symmetry{};
  }

  /// Shards the optimizer's state: this rank keeps only the state of its own shards.
  void extend_setup(const ExchangeRule& exchange, SetupBuilder& builder) const override {
    const PlanInput& input = builder.input();
    if (input.loss_scaling) {
      throw UsageError(fmt::format(
          "{} leaves each rank a shard of the summed gradients, so no rank sees whether all of "
          "them are finite, and the loss cannot be scaled; take --dtype fp32 or bf16",
          name_));
    }
    builder.shard_optimizer(input.world == 1 ? 1 : exchange.traits(input).shards);
    if (input.clip_norm > 0 && input.world > 1) {
      builder.add_world_communicator(kNormCommunicator);
    }
  }

 protected:
  /// This rank's shard of `slice`, which is a bucket or a part of one whose length is a multiple of
  /// the shards.
  static Slice own_shard(const Slice& slice, const StrategyProgram& program) {
    const ExchangeTraits traits = program.exchange_traits();
    return shard_of(slice, traits.own_shard.value_or(0),
                    program.input().world == 1 ? 1 : traits.shards);
  }

  /// Clips this rank's shards of the summed gradients so that the norm over the shards of all ranks
  /// is within the limit.
  static void clip_shards(const std::vector<Access>& gradients, StrategyProgram& program) {
    const PlanInput& input = program.input();
    if (input.world > 1) {
      program.clip(gradients, program.divisor(),
                   communicator_named(program.setup(), kNormCommunicator),
                   static_cast<double>(input.world) / program.exchange_traits().shards);
    }
  }

  /// Appends the update of this rank's shard of `values` with its shard of the summed gradients.
  static void update_shard(const Slice& values, const Slice& gradients, StrategyProgram& program) {
    const PlanInput& input = program.input();
    const Rank shards = input.world == 1 ? 1 : program.exchange_traits().shards;
    program.update(own_shard(values, program), gradients, values.begin / shards, program.divisor());
  }

 private:
  std::string_view name_;
};

/// Every rank keeps the state of the optimizer for its own shard of each bucket.  The exchange sums
/// the gradients and leaves each rank its shard; the rank applies the shard; then the ranks gather
/// the shards of the parameters.  The resulting parameters are those of `gradients`, with the
/// optimizer's work and memory divided among the ranks.
///
///   rounds per step            those of the exchange
///   bytes sent, rank and step  the bytes of exchanging S = model size
///   extra memory, rank         the optimizer's state is 1/P of it
///                              (hierarchical: 1/L, L ranks per host)
///   guarantee                  exact: one rank's step on the whole batch
///
/// Rajbhandari et al. (ZeRO), SC 2020, arXiv:1910.02054, section 5.1.
class Zero1 final : public ShardedUpdate {
 public:
  Zero1() : ShardedUpdate("zero-1") {}

  void start(const Bucket& bucket, StrategyProgram& program) const override {
    program.start_exchange(bucket.gradients);
  }

  /// Updates the bucket's shard.  A schedule may start parts of buckets; each part has its own
  /// shards.
  void finish(const Bucket& bucket, StrategyProgram& program) const override {
    update_shard(bucket.values, own_shard(bucket.gradients, program), program);
    program.finish_exchange(bucket.values);
  }

  bool updates_in_finish() const override { return true; }

  void clip(const std::vector<Bucket>& finishing, StrategyProgram& program) const override {
    std::vector<Access> shards;
    for (const Bucket& bucket : finishing) {
      shards.push_back({own_shard(bucket.gradients, program)});
    }
    clip_shards(shards, program);
  }
};

/// As `zero-1`, but no rank keeps the gradients: a bucket's gradients are summed as soon as its
/// backward has ended, each rank keeps its shard of the sum, and the memory is reused by the next
/// bucket but one.  So backward can run one bucket ahead of the exchange.
///
///   rounds per step            those of the exchange
///   bytes sent, rank and step  the bytes of exchanging S = model size; its half
///                              that sums, once for each micro-batch
///   extra memory, rank         1/P of the optimizer's state and 1/P S of sums
///                              (hierarchical: 1/L, L ranks per host); gradients:
///                              two buckets of the largest size in place of S
///   guarantee                  exact: one rank's step on the whole batch
///
/// Rajbhandari et al. (ZeRO), SC 2020, arXiv:1910.02054, section 5.2.
class Zero2 final : public ShardedUpdate {
 public:
  Zero2() : ShardedUpdate("zero-2") {}

  void extend_setup(const ExchangeRule& exchange, SetupBuilder& builder) const override {
    const PlanInput& input = builder.input();
    ShardedUpdate::extend_setup(exchange, builder);
    if (input.world > 1) {
      const Buffer values =
          builder.setup().buffers[index_of(buffer_named(builder.setup(), kValues))];
      builder.add_buffer({.name = std::string(kShardsBuffer),
                          .dtype = values.dtype,
                          .elements = values.elements / exchange.traits(input).shards});
      builder.share_gradient_memory(kGradientSlots);
    }
  }

  /// Starts the exchange of each bucket already here, because the gradients of the next bucket but
  /// one reuse its memory.
  void compute(StrategyProgram& program) const override {
    if (program.input().world == 1) {
      program.compute();
      return;
    }
    for (int micro = 0; micro < program.input().micro_batches; ++micro) {
      program.forward_pass(micro);
      for (const Bucket& bucket : program.buckets()) {
        if (micro > 0) {
          forget(bucket, program);
        }
        for (const ParameterId id : bucket.parameters) {
          program.backward(id, micro);
        }
        sum(bucket, micro, program);
      }
    }
  }

  void start(const Bucket&, StrategyProgram&) const override {}

  void clip(const std::vector<Bucket>&, StrategyProgram& program) const override {
    if (program.input().world == 1) {
      return;
    }
    std::vector<Access> sums;  // this rank's sums, without the padding of buckets
    for (const Bucket& bucket : program.buckets()) {
      const Slice shard = own_shard(bucket.values, program);
      const Slice sum = own_sum(bucket, program);
      for (const Slice& tensor : tensors_in(shard, program)) {
        sums.push_back({{sum.buffer, sum.begin + tensor.begin - shard.begin, tensor.count}});
      }
    }
    clip_shards(sums, program);
  }

  void finish(const Bucket&, StrategyProgram&) const override {}

  /// Updates whole buckets: a schedule may call start() and finish() with parts that are smaller
  /// than the buckets of compute().
  void apply(const Bucket& bucket, StrategyProgram& program) const override {
    for (const Bucket& mine : buckets_in(bucket, program)) {
      update_shard(mine.values,
                   program.input().world == 1 ? mine.gradients : own_sum(mine, program), program);
      program.finish_exchange(mine.values);
    }
  }

 private:
  /// Sets the bucket's gradients to zero.  Later micro-batches add to this memory, which still
  /// holds another bucket's gradients.
  static void forget(const Bucket& bucket, Program& program) {
    program.kernel("linear", {}, {{bucket.gradients}});
  }

  /// Appends the first half of the exchange, which sums one micro-batch over the ranks. The sum of
  /// the first micro-batch is written to this rank's shard; the sum of a later one stays in the
  /// bucket and is added to the shard.
  static void sum(const Bucket& bucket, int micro, StrategyProgram& program) {
    const Slice kept = own_sum(bucket, program);
    for (WireSlice wire_slice :
         program.transfer().codec.wire_slices(bucket.gradients, 0, program)) {
      if (micro == 0) {
        wire_slice.kept = kept;
      }
      program.transfer().exchange.start(wire_slice, program);
    }
    if (micro > 0) {
      program.kernel("linear", {{kept}, {own_shard(bucket.gradients, program)}}, {{kept}}, {1, 1});
    }
  }

  static Slice own_sum(const Bucket& bucket, const StrategyProgram& program) {
    const Rank shards = program.exchange_traits().shards;
    return {buffer_named(program.setup(), kShardsBuffer), bucket.values.begin / shards,
            bucket.values.count / shards};
  }
};

}  // namespace

std::unique_ptr<UpdateRule> make_zero_1(const Options&) { return std::make_unique<Zero1>(); }

std::unique_ptr<UpdateRule> make_zero_2(const Options&) { return std::make_unique<Zero2>(); }

}  // namespace paceline::strategies
