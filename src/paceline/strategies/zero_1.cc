// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/error.h"
#include "paceline/strategies/rows.h"
#include "paceline/strategies/sharded_state.h"

namespace paceline::strategies {
namespace {

constexpr auto kNormCommunicator = "norm";

}  // namespace

void shard_state(std::string_view rule,
                 const PlanInput& input,
                 const ExchangeRule& exchange,
                 SetupBuilder& builder) {
  if (input.loss_scaling) {
    throw UsageError(fmt::format(
        "{} leaves each rank a shard of the summed gradients, so no rank sees "
        "whether all of them are finite, and the loss cannot be scaled; take "
        "--dtype fp32 or bf16",
        rule));
  }
  builder.shard_optimizer(input.world == 1 ? 1 : exchange.traits(input).shards);
  if (input.clip_norm > 0 && input.world > 1) {
    builder.add_world(kNormCommunicator);
  }
}

Symmetry keeping_shards(const ExchangeTraits& exchange) {
  Symmetry kept = exchange.symmetry;
  kept.movable = 1;
  return kept.block == exchange.shards ? kept : Symmetry{};
}

void clip_shards(const std::vector<Access>& gradients,
                 const CodedExchange& transfer,
                 Program& program) {
  const PlanInput& input = program.input();
  if (input.world > 1) {
    program.clip(gradients,
                 transfer.divisor(input),
                 communicator_named(program.setup(), kNormCommunicator),
                 static_cast<double>(input.world) /
                     transfer.exchange.traits(input).shards);
  }
}

void update_shard(const Slice& values,
                  const Slice& gradients,
                  const CodedExchange& transfer,
                  Program& program) {
  const PlanInput& input = program.input();
  const ExchangeTraits traits = transfer.exchange.traits(input);
  const Rank shards = input.world == 1 ? 1 : traits.shards;
  program.update(shard_of(values, traits.own_shard.value_or(0), shards),
                 gradients,
                 values.begin / shards,
                 transfer.divisor(input));
}

namespace {

/// Every rank keeps the state of the optimizer for its own shard of each
/// bucket.  The exchange sums the gradients and leaves each rank its shard; the
/// rank applies it; then the shards of the parameters are spread.  On what the
/// ranks hold this is `gradients`, with the optimizer's work and memory
/// divided.
///
///   rounds per step            that of the exchange
///   bytes sent, rank and step  those of exchanging S = model size
///   extra memory, rank         the optimizer's state is 1/P of it
///   (hierarchical:
///                              1/L, L ranks a host)
///   guarantee                  exact: one rank's step on the whole batch
///
/// Rajbhandari et al. (ZeRO), SC 2020, arXiv:1910.02054, section 5.1.
class Zero1 final : public UpdateRule {
 public:
  Symmetry symmetry(const ExchangeTraits& exchange) const override {
    return keeping_shards(exchange);
  }

  void extend(const PlanInput& input,
              const ExchangeRule& exchange,
              const std::vector<Bucket>&,
              SetupBuilder& builder) const override {
    shard_state("zero-1", input, exchange, builder);
  }

  void start(const Bucket& bucket,
             const CodedExchange& transfer,
             Program& program) const override {
    transfer.start(bucket.gradients, program);
  }

  /// A schedule may start parts of buckets: each has its own shards.
  void finish(const Bucket& bucket,
              const CodedExchange& transfer,
              Program& program) const override {
    update_shard(
        bucket.values, own_shard(bucket, transfer, program), transfer, program);
    transfer.finish(bucket.values, program);
  }

  bool updates_in_finish() const override { return true; }

  void clip(const std::vector<Bucket>& finishing,
            const CodedExchange& transfer,
            Program& program) const override {
    std::vector<Access> shards;
    for (const Bucket& bucket : finishing) {
      shards.push_back({own_shard(bucket, transfer, program)});
    }
    clip_shards(shards, transfer, program);
  }

 private:
  static Slice own_shard(const Bucket& bucket,
                         const CodedExchange& transfer,
                         const Program& program) {
    const PlanInput& input = program.input();
    const ExchangeTraits traits = transfer.exchange.traits(input);
    return shard_of(bucket.gradients,
                    traits.own_shard.value_or(0),
                    input.world == 1 ? 1 : traits.shards);
  }
};

}  // namespace

std::unique_ptr<UpdateRule> make_zero_1(const Options&) {
  return std::make_unique<Zero1>();
}

}  // namespace paceline::strategies
