// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/rows.h"
#include "paceline/strategies/sharded_state.h"

namespace paceline::strategies {
namespace {

constexpr std::string_view kShards = "gradient_shards";
constexpr std::size_t kSlots = 2;

/// As `zero-1`, and no rank keeps the gradients: a bucket's are summed as soon
/// as its backward has ended, each rank keeps its shard of the sum, and the
/// memory serves the next bucket but one.  So backward runs ahead of the
/// exchange by one bucket.
///
///   rounds per step            that of the exchange
///   bytes sent, rank and step  those of exchanging S = model size; its half
///                              that sums, once for each micro-batch
///   extra memory, rank         1/P of the optimizer's state and 1/P S of sums
///                              (hierarchical: 1/L, L ranks a host); gradients:
///                              two buckets of the largest size in place of S
///   guarantee                  exact: one rank's step on the whole batch
///
/// Rajbhandari et al. (ZeRO), SC 2020, arXiv:1910.02054, section 5.2.
class Zero2 final : public UpdateRule {
 public:
  Symmetry symmetry(const ExchangeTraits& exchange) const override {
    return keeping_shards(exchange);
  }

  void extend(const PlanInput& input,
              const ExchangeRule& exchange,
              const std::vector<Bucket>& buckets,
              SetupBuilder& builder) const override {
    shard_state("zero-2", input, exchange, builder);
    if (input.world > 1) {
      const Buffer values =
          builder.setup()
              .buffers[index_of(buffer_named(builder.setup(), kValues))];
      builder.add_buffer(
          {.name = std::string(kShards),
           .dtype = values.dtype,
           .elements = values.elements / exchange.traits(input).shards});
      builder.fold_gradients(buckets, kSlots);
    }
  }

  /// The exchange of a bucket begins here: the gradients of the next bucket but
  /// one take its place.
  void compute(const std::vector<Bucket>& buckets,
               const CodedExchange& transfer,
               Program& program) const override {
    if (program.input().world == 1) {
      program.compute();
      return;
    }
    for (int micro = 0; micro < program.input().micro_batches; ++micro) {
      program.forward_pass(micro);
      for (const Bucket& bucket : buckets) {
        if (micro > 0) {
          forget(bucket, program);
        }
        for (const ParameterId id : bucket.parameters) {
          program.backward(id, micro);
        }
        sum(bucket, micro, transfer, program);
      }
    }
  }

  void start(const Bucket&, const CodedExchange&, Program&) const override {}

  void clip(const std::vector<Bucket>&,
            const CodedExchange& transfer,
            Program& program) const override {
    if (program.input().world == 1) {
      return;
    }
    const ExchangeTraits traits = transfer.exchange.traits(program.input());
    std::vector<Access> sums;  // without what fills a bucket up
    for (const Bucket& bucket : program.buckets()) {
      const Slice shard =
          shard_of(bucket.values, traits.own_shard.value_or(0), traits.shards);
      const Slice sum = own_sum(bucket, transfer, program);
      for (const Slice& tensor : tensors_in(shard, program)) {
        sums.push_back({{sum.buffer,
                         sum.begin + tensor.begin - shard.begin,
                         tensor.count}});
      }
    }
    clip_shards(sums, transfer, program);
  }

  void finish(const Bucket&, const CodedExchange&, Program&) const override {}

  /// A schedule may cut what it starts and finishes finer than what compute()
  /// gave.
  void apply(const Bucket& bucket,
             const CodedExchange& transfer,
             Program& program) const override {
    for (const Bucket& mine : buckets_in(bucket, program)) {
      update_shard(mine.values,
                   program.input().world == 1
                       ? mine.gradients
                       : own_sum(mine, transfer, program),
                   transfer,
                   program);
      transfer.finish(mine.values, program);
    }
  }

 private:
  /// Later micro-batches add to what lies there: another bucket's gradients.
  static void forget(const Bucket& bucket, Program& program) {
    program.kernel("linear", {}, {{bucket.gradients}});
  }

  /// The sum of the first micro-batch goes to its place; each later one is left
  /// in the bucket and added.
  static void sum(const Bucket& bucket,
                  int micro,
                  const CodedExchange& transfer,
                  Program& program) {
    const Slice kept = own_sum(bucket, transfer, program);
    for (WireSlice wire_slice :
         transfer.codec.wire_slices(bucket.gradients, 0, program)) {
      if (micro == 0) {
        wire_slice.kept = kept;
      }
      transfer.exchange.start(wire_slice, program);
    }
    if (micro > 0) {
      const ExchangeTraits traits = transfer.exchange.traits(program.input());
      program.kernel(
          "linear",
          {{kept},
           {shard_of(
               bucket.gradients, traits.own_shard.value_or(0), traits.shards)}},
          {{kept}},
          {1, 1});
    }
  }

  static Slice own_sum(const Bucket& bucket,
                       const CodedExchange& transfer,
                       const Program& program) {
    const Rank shards = transfer.exchange.traits(program.input()).shards;
    return {buffer_named(program.setup(), kShards),
            bucket.values.begin / shards,
            bucket.values.count / shards};
  }
};

}  // namespace

std::unique_ptr<UpdateRule> make_zero_2(const Options&) {
  return std::make_unique<Zero2>();
}

}  // namespace paceline::strategies
